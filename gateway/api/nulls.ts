/**
 * Treats null in an optional field of a body as absent, because many clients write all their
 * fields.
 */

/** The parts of a JSON Schema that matter here. */
interface Schema {
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  items?: Schema
  description?: string
  default?: unknown
}

const isOptional = ({ properties, required = [] }: Schema, name: string): boolean =>
  properties !== undefined && Object.hasOwn(properties, name) && !required.includes(name)

/** Returns `value` without the optional fields that are null, including those of objects in it. */
export function withoutNulls(schema: Schema, value: unknown): unknown {
  const { properties, items } = schema
  if (Array.isArray(value)) return items ? value.map((item) => withoutNulls(items, item)) : value
  if (value === null || typeof value !== 'object' || !properties) return value
  const fields = Object.entries(value).filter(
    ([name, field]) => field !== null || !isOptional(schema, name),
  )
  return Object.fromEntries(
    fields.map(([name, field]) => [
      name,
      Object.hasOwn(properties, name) ? withoutNulls(properties[name]!, field) : field,
    ]),
  )
}

/**
 * Returns the schema of a body with the nulls that `withoutNulls` accepts, for the API description.
 */
export function describeNulls(schema: Schema): Schema {
  const { properties, items } = schema
  if (items) return { ...schema, items: describeNulls(items) }
  if (!properties) return schema
  const described = Object.entries(properties).map(([name, field]) => {
    const inner = describeNulls(field)
    return [name, isOptional(schema, name) ? orNull(inner) : inner]
  })
  return { ...schema, properties: Object.fromEntries(described) as Record<string, Schema> }
}

const orNull = ({ description, default: usual, ...schema }: Schema) => ({
  ...(description !== undefined && { description }),
  ...(usual !== undefined && { default: usual }),
  anyOf: [schema, { type: 'null' }],
})
