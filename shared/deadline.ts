/** A limit on the time of a piece of work. */

interface Deadline {
  ms: number
  /** Creates the error for when time is up. */
  timeoutError: () => Error
  signal: AbortSignal | undefined
}

/**
 * Runs `work` with a signal that fires when time is up, or earlier with `signal`.
 * @throws the reason of the signal once it has fired; otherwise whatever `work` throws
 */
export async function withDeadline<T>(
  { ms, timeoutError, signal }: Deadline,
  work: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  const timer = setTimeout(() => controller.abort(timeoutError()), ms)
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
