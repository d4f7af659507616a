/** JSON as text, for values that must leave the gateway exactly as they came in. */

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/g

/** Valid JSON without blanks and needless escapes; numbers stay as they are written. */
export const compactJson = (json: string): string => tokensOf(json).join('')

/**
 * The compact text of a field of the object that is written in `json`, which is valid; of several
 * with its name the last, as in JSON.parse. Undefined where there is none.
 */
export function fieldText(json: string, field: string): string | undefined {
  const tokens = tokensOf(json)
  if (tokens[0] !== '{') return undefined
  let [depth, name, text, found]: [number, string?, string?, string?] = [0]
  for (const token of tokens) {
    if (token === '}' || token === ']') depth -= 1
    if (depth === 0 || (depth === 1 && token === ',')) {
      // between two fields
      if (name === field) found = text
      name = undefined
      text = ''
    } else if (name === undefined) {
      name = JSON.parse(token) as string
    } else if (depth > 1 || token !== ':') {
      text += token
    }
    if (token === '{' || token === '[') depth += 1
  }
  return found
}

const tokensOf = (json: string): string[] =>
  (json.match(TOKENS) ?? []).map((token) =>
    token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token,
  )

/** Whether a value has more than `levels` arrays and objects inside each other. */
export const isDeeperThan = (levels: number, value: unknown): boolean =>
  value !== null &&
  typeof value === 'object' &&
  (levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner)))
