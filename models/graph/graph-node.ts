/** A node as `graph-def.proto` has it. */
export interface GraphNode {
  name: string
  op: string
  input: string[]
  attr: Record<string, object>
}
