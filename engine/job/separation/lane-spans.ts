/** Traces the lanes of one job: how long each waited for its first step, and how long it took. */

import { isTracing, spansOfNow, type TraceSpan } from '../../../shared/telemetry/tracing.ts'

/**
 * At most this many lanes are traced. Later ones look the same, and nobody reads a trace with
 * thousands.
 */
const LANES_TRACED_MAX = 64

export class LaneSpans {
  #traced = 0

  /** Runs `separate`, which calls `onBegin` before the lane's first step. */
  async trace<T>(
    attributes: { chunk_start_seconds: number; candidate: number },
    separate: (onBegin: () => void) => Promise<T>,
  ): Promise<T> {
    if (!isTracing() || this.#traced === LANES_TRACED_MAX) return separate(() => undefined)
    this.#traced += 1
    const begin = spansOfNow()
    const queue = begin('queue', attributes)
    let steps: TraceSpan | undefined
    try {
      return await separate(() => {
        queue.end()
        steps ??= begin('steps', attributes) // a step that ran out of memory begins again
      })
    } catch (error) {
      ;(steps ?? queue).end(error)
      throw error
    } finally {
      ;(steps ?? queue).end()
    }
  }
}
