/** Spans of the lanes of one job: how long each waited for its first step, and took for all. */

import { isTracing, spansOfNow, type OpenSpan } from '../../../shared/telemetry/tracing.ts'

/** Later lanes are like these, and a trace of thousands of spans is of no use. */
const LANES_TRACED_MAX = 64

export class LaneSpans {
  #traced = 0

  /** Runs `separate`, which calls `onBegin` when the lane is stepped first. */
  async trace<T>(
    attributes: { chunk_start_seconds: number; candidate: number },
    separate: (onBegin: () => void) => Promise<T>,
  ): Promise<T> {
    if (!isTracing() || this.#traced === LANES_TRACED_MAX) return separate(() => undefined)
    this.#traced += 1
    const begin = spansOfNow()
    const queue = begin('queue', attributes)
    let steps: OpenSpan | undefined
    try {
      return await separate(() => {
        queue.end()
        steps ??= begin('steps', attributes) // a batch without memory begins again
      })
    } catch (error) {
      ;(steps ?? queue).end(error)
      throw error
    } finally {
      ;(steps ?? queue).end()
    }
  }
}
