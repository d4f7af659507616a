/** A long row worked off in slices, each with as much context as its frames depend on. */

export interface Slice {
  /** Frames to work on: from `from` to `to`, which may lie beyond the row. */
  from: number
  to: number
  /** Frames to keep: from `start` to `end`. */
  start: number
  end: number
}

/** Frames kept of a slice are a multiple of it: then slices have few lengths. */
const KEPT_STEP = 16

/**
 * Slices of one length for a row, and of few lengths for all rows: a device prepares its kernels
 * for each. The last one begins early enough to be whole; it has more context than it needs.
 * @param sliceFrames kept of one at most
 * @param shortStep a row that is one slice is extended to a multiple of it
 */
export function planSlices(
  frames: number,
  sliceFrames: number,
  contextFrames: number,
  shortStep = 1,
): Slice[] {
  const inner = frames - 2 * contextFrames // the first and the last have context at one end only
  const count = Math.ceil(inner / sliceFrames)
  if (count <= 1) return [{ from: 0, to: roundUp(frames, shortStep), start: 0, end: frames }]
  const kept = Math.min(sliceFrames, roundUp(inner / count, KEPT_STEP))
  const length = kept + 2 * contextFrames
  return Array.from({ length: count }, (_, i) => {
    const from = Math.min(i * kept, frames - length)
    const start = i === 0 ? 0 : contextFrames + i * kept
    const end = i === count - 1 ? frames : contextFrames + (i + 1) * kept
    return { from, to: from + length, start, end }
  })
}

const roundUp = (value: number, step: number): number => step * Math.ceil(value / step)
