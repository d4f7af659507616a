/**
 * Returns the value with memory of its own for each array. Node deserializes arrays as views of one
 * buffer, and as soon as one of them is transferred to another thread, all of them are lost.
 * @param value of plain objects, lists and Float32Arrays
 */
export function withOwnMemory<T>(value: T): T {
  return copyOf(value) as T
}

function copyOf(value: unknown): unknown {
  if (value instanceof Float32Array) {
    return value.byteLength === value.buffer.byteLength ? value : value.slice()
  }
  if (Array.isArray(value)) return value.map(copyOf)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copyOf(part)]))
}
