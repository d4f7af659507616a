/** A node of `graph-def.proto`. */
export interface GraphNode {
  name: string
  op: string
  input: string[]
  attr: Record<string, object>
}
