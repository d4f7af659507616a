/** A long row worked off in slices, each with as much context as its frames depend on. */

export interface Slice {
  /** What is worked on: frames from `from` to `to`. */
  from: number
  to: number
  /** What is kept of it: frames from `start` to `end`. */
  start: number
  end: number
}

export function planSlices(frames: number, sliceFrames: number, contextFrames: number): Slice[] {
  const count = Math.ceil(frames / sliceFrames)
  return Array.from({ length: count }, (_, i) => {
    const start = i * sliceFrames
    const end = Math.min(frames, start + sliceFrames)
    return {
      start,
      end,
      from: Math.max(0, start - contextFrames),
      to: Math.min(frames, end + contextFrames),
    }
  })
}
