/** Finds text that cannot be stored: U+0000, which databases refuse, and unpaired surrogates. */

const UNFIT = /[\0\p{Cs}]/u

/** Returns the JSON Pointer of the first value or name with such text, or undefined. */
export function unfitTextAt(body: unknown): string | undefined {
  const waiting = [{ value: body, pointer: '' }]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    // a loop, because recursion could be too deep
    const { value, pointer } = next
    if (typeof value === 'string' && UNFIT.test(value)) return pointer
    if (value === null || typeof value !== 'object') continue
    for (const [name, child] of Object.entries(value).reverse()) {
      if (UNFIT.test(name)) return pointer
      waiting.push({ value: child, pointer: `${pointer}/${escapePointer(name)}` })
    }
  }
  return undefined
}

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
