/**
 * The models that there are, apart from their code: settings are checked without loading
 * TensorFlow.
 */

/** Which model, and of one that is not built in, where it lies. */
export type ModelChoice = { name: 'mini' } | { name: 'sam-audio'; folder: string }

/**
 * Reads `mini` or `sam-audio:<folder>`.
 * @throws Error saying what would be right
 */
export function parseModelChoice(text: string): ModelChoice {
  if (text === 'mini') return { name: 'mini' }
  const [, folder] = /^sam-audio:(.+)$/.exec(text) ?? []
  if (folder) return { name: 'sam-audio', folder }
  throw new Error(`must be mini or sam-audio:<folder>, not "${text}"`)
}
