/** A limit on the time of a piece of work. */

interface Deadline {
  ms: number
  /** Made when the time is over. */
  late: () => Error
  /** Ends the work earlier. */
  signal: AbortSignal | undefined
}

/**
 * Runs `work` with a signal that fires when the time is over, or earlier with `signal`.
 * @throws why the signal fired, once it has; otherwise what `work` throws
 */
export async function withDeadline<T>(
  { ms, late, signal }: Deadline,
  work: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  const timer = setTimeout(() => controller.abort(late()), ms)
  signal?.addEventListener('abort', abort, { once: true })
  try {
    signal?.throwIfAborted()
    return await work(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
