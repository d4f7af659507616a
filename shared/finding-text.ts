/** Tells people in a sentence what a model found out about a prompt. */

import type { Finding } from './messages.ts'

/** One sentence, or two; null: the model tells nothing of it. */
export function findingText(prompt: string, finding: Finding): string | null {
  const { state, match, understood_as: name, softened_db: softenedDb = 0 } = finding
  if (state === undefined) return null
  const quoted = `"${prompt}"`
  if (state === 'unknown') {
    const { holds, nearest = [] } = finding
    const instead = holds === undefined ? '' : `: its target holds ${holds} instead`
    const names = nearest.map((text) => `"${text}"`).join(', ')
    const hint = names === '' ? '' : ` The nearest names to try: ${names}.`
    return `The model does not know ${quoted}${instead}.${hint}`
  }
  const isOther = name && name !== prompt.trim().toLowerCase()
  const taken = isOther ? `, taken for "${name}",` : ''
  const percent = match === undefined ? '' : ` (match ${Math.round(100 * match)} %)`
  if (state === 'found') return `${quoted}${taken} was found${percent}.`
  const softer = softenedDb > 0 ? `: its target is up to ${softenedDb} dB softer` : ''
  return `${quoted}${taken} may be absent${percent}${softer}.`
}
