/** Splits a long row into slices, each with as much context as its frames depend on. */

export interface Slice {
  /** The frames to process, from `from` to `to`, which may be beyond the end of the row. */
  from: number
  to: number
  /** The frames to keep, from `start` to `end`. */
  start: number
  end: number
}

/** Slices keep a multiple of this many frames, so that there are few different lengths. */
const KEPT_STEP = 16

/**
 * Plans slices of one length for a row, and few lengths for all rows, because a device prepares
 * kernels for each. The last slice starts early enough to be whole, so it has more context than
 * needed.
 * @param sliceFrames how many frames a slice keeps at most
 * @param shortStep a row that fits into one slice is padded to a multiple of this
 */
export function planSlices(
  frames: number,
  sliceFrames: number,
  contextFrames: number,
  shortStep = 1,
): Slice[] {
  const inner = frames - 2 * contextFrames // the first and last have context at one end only
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
