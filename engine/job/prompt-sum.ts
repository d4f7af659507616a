/** The target of a prompt that several sounds answer: the one place where they are summed. */

import type { HeadResult } from '../../models/model.ts'

/** A sound of a prompt, as a model found it in a chunk. */
export interface Part {
  /** The prompt asks for it to be taken away. */
  isUnwanted: boolean
  found: Pick<HeadResult, 'target' | 'understoodAs' | 'substitute'>
}

/**
 * Which parts count. A sound that the model does not know is not guessed where it would be taken
 * away, or where others are wanted too; and one sound of two names counts once.
 */
export function countedParts(parts: readonly Part[]): boolean[] {
  const seen = new Set<string>()
  const counted = parts.map(({ isUnwanted, found: { understoodAs } }) => {
    if (understoodAs === undefined) return true
    const name = `${isUnwanted}: ${understoodAs}`
    const counts = understoodAs !== null && !seen.has(name)
    seen.add(name)
    return counts
  })
  const first = parts.findIndex(({ isUnwanted }) => !isUnwanted)
  const isAnyWanted = parts.some(({ isUnwanted }, i) => !isUnwanted && counted[i])
  return counted.map((counts, i) => counts || (i === first && !isAnyWanted))
}

/**
 * The wanted parts without the unwanted ones; of a prompt that only says what is unwanted their
 * sum, which its target is the rest of. Planar samples `[channels][samples]`, in the memory of the
 * first part.
 */
export function sumOf(parts: readonly Part[]): Float32Array[] {
  const counted = countedParts(parts)
  const hasWanted = parts.some(({ isUnwanted }) => !isUnwanted)
  const [first, ...rest] = parts.map(({ isUnwanted, found }, i) => ({
    target: found.target,
    gain: counted[i] ? (hasWanted && isUnwanted ? -1 : 1) : 0,
  }))
  const { target: sum, gain } = first!
  for (const [c, wave] of sum.entries()) {
    if (gain !== 1) for (let i = 0; i < wave.length; i += 1) wave[i]! *= gain
    for (const part of rest) if (part.gain !== 0) add(wave, part.target[c]!, part.gain)
  }
  return sum
}

function add(sum: Float32Array, wave: Float32Array, gain: number): void {
  for (let i = 0; i < sum.length; i += 1) sum[i]! += gain * wave[i]!
}
