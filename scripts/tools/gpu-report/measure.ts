/** What several parts share: times, and the memory that the allocator gave out meanwhile. */
import { native } from '../../../models/tensor.ts'

const MIB = 2 ** 20

export const mebibytes = (bytes: number): number => Number((bytes / MIB).toFixed(1))

export interface Timed {
  /** Of each run. */
  millis: number[]
  /** The most that was given out, what was there before excluded. */
  peakMib: number | null
}

/** Runs `work`, which reads its result from the device, so many times, as long as there is time. */
export function timed(work: () => void, times: number, hasTime: () => boolean): Timed {
  const before = native.binding.memoryStats()?.inUse ?? 0
  const millis: number[] = []
  let peak = 0
  for (let i = 0; i < times && (i === 0 || hasTime()); i += 1) {
    const startedAt = performance.now()
    work()
    millis.push(performance.now() - startedAt)
    peak = Math.max(peak, native.binding.memoryStats()?.peak ?? 0)
  }
  return { millis, peakMib: peak === 0 ? null : mebibytes(peak - before) }
}

export const least = (values: readonly number[]): number => Math.min(...values)
