/** JSON as text, for values that must leave the gateway exactly as they came in. */

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/g

/** Returns valid JSON without whitespace and needless escapes. Numbers stay as they are written. */
export const compactJson = (json: string): string => tokensOf(json).join('')

/**
 * Returns the compact text of a field of the object in `json`, which must be valid. If several
 * fields have the name, the last one counts, as in JSON.parse. Returns undefined if there is none.
 */
export function fieldText(json: string, field: string): string | undefined {
  const tokens = tokensOf(json)
  if (tokens[0] !== '{') return undefined
  let [depth, name, text, lastText]: [number, string?, string?, string?] = [0]
  for (const token of tokens) {
    if (token === '}' || token === ']') depth -= 1
    if (depth === 0 || (depth === 1 && token === ',')) {
      // between two fields
      if (name === field) lastText = text
      name = undefined
      text = ''
    } else if (name === undefined) {
      name = JSON.parse(token) as string
    } else if (depth > 1 || token !== ':') {
      text += token
    }
    if (token === '{' || token === '[') depth += 1
  }
  return lastText
}

const tokensOf = (json: string): string[] =>
  (json.match(TOKENS) ?? []).map((token) =>
    token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token,
  )

const QUOTE = 34
const BACKSLASH = 92
/** Bytes that begin a value: a comma, and the brackets of arrays and objects. */
const BEGINNINGS = new Set([44, 91, 123])

/**
 * Returns whether JSON text holds more than `most` values, including those of repeated names. The
 * text is read only up to the first value that is too many, and need not be valid.
 */
export function hasMoreValuesThan(most: number, json: string): boolean {
  let values = 1
  for (let i = 0; i < json.length && values <= most; i += 1) {
    const code = json.charCodeAt(i)
    if (BEGINNINGS.has(code)) values += 1
    if (code === QUOTE) i = endOfString(json, i)
  }
  return values > most
}

/** Returns the position of the quote that ends the string which begins at `start`. */
function endOfString(json: string, start: number): number {
  let i = start + 1
  while (i < json.length && json.charCodeAt(i) !== QUOTE) {
    i += json.charCodeAt(i) === BACKSLASH ? 2 : 1
  }
  return i
}

/** Returns whether a value has more than `levels` arrays and objects inside each other. */
export const isDeeperThan = (levels: number, value: unknown): boolean =>
  value !== null &&
  typeof value === 'object' &&
  (levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner)))
