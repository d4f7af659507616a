/** Sends requests, either at set times or a fixed number at once. */

import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Arrival } from './mix.ts'

/**
 * `COMPLETED` or an error's code, and the milliseconds of each stage as the server reports them.
 */
export interface Answer {
  code: string
  stages?: Readonly<Record<string, number>>
}

/** Sends a request with media of that length and resolves at its end; never rejects. */
export type Send = (audioSeconds: number, signal: AbortSignal) => Promise<Answer>

export interface Outcome extends Arrival, Answer {
  /** Measured from when it was due; for an unfinished request, until it was given up. */
  latencyMs: number
}

/** The request was given up at the end of the load, so its latency is only a lower bound. */
export const UNFINISHED = 'UNFINISHED'
/** Not sent, because too many requests were in flight. */
export const NOT_SENT = 'NOT_SENT'

export interface OpenLoopOptions {
  /** How long after the last arrival requests in flight are given up. */
  drainMs: number
  /** Limit on requests in flight, to protect client and service. */
  inFlightMax: number
  /** Called twice a second. */
  onProgress?: (now: { ms: number; sent: number; inFlight: number; ended: number }) => void
}

/**
 * Sends each request when it is due, whatever became of the earlier ones, and times it from then. A
 * server that stalls or a client that is late therefore shows in every latency (no coordinated
 * omission; Gil Tene, "How NOT to Measure Latency").
 */
export async function openLoop(
  arrivals: readonly Arrival[],
  send: Send,
  { drainMs, inFlightMax, onProgress = () => undefined }: OpenLoopOptions,
): Promise<Outcome[]> {
  const startedAt = performance.now()
  const now = () => performance.now() - startedAt
  const giveUp = new AbortController()
  setMaxListeners(0, giveUp.signal) // every request in flight adds listeners
  const outcomes: Outcome[] = []
  const waiting = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const inFlight = waiting.size
    onProgress({ ms: now(), sent: outcomes.length + inFlight, inFlight, ended: outcomes.length })
  }, 500)
  for (const arrival of arrivals) {
    const waitMs = arrival.dueMs - now()
    if (waitMs > 0.5) await sleep(waitMs)
    if (waiting.size >= inFlightMax) {
      outcomes.push({ ...arrival, code: NOT_SENT, latencyMs: now() - arrival.dueMs })
      continue
    }
    const ended = send(arrival.audioSeconds, giveUp.signal).then((answer) => {
      const code = giveUp.signal.aborted ? UNFINISHED : answer.code
      outcomes.push({ ...arrival, ...answer, code, latencyMs: now() - arrival.dueMs })
      waiting.delete(ended)
    })
    waiting.add(ended)
  }
  const drained = new AbortController()
  void sleep(drainMs, null, { signal: drained.signal }).then(
    () => giveUp.abort(new Error('the load has ended')),
    () => undefined, // all ended in time
  )
  await Promise.all(waiting)
  drained.abort()
  clearInterval(timer)
  return outcomes.sort((a, b) => a.dueMs - b.dueMs)
}

export interface ClosedLoop {
  outcomes: Outcome[]
  wallSeconds: number
}

/** Sends all requests, keeping `concurrency` of them in flight. */
export async function closedLoop(
  work: readonly number[],
  concurrency: number,
  send: Send,
): Promise<ClosedLoop> {
  const startedAt = performance.now()
  const { signal } = new AbortController()
  const left = [...work]
  const outcomes: Outcome[] = []
  const worker = async () => {
    for (let seconds = left.shift(); seconds !== undefined; seconds = left.shift()) {
      const dueMs = performance.now() - startedAt
      const answer = await send(seconds, signal)
      const latencyMs = performance.now() - startedAt - dueMs
      outcomes.push({ dueMs, audioSeconds: seconds, ...answer, latencyMs })
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, work.length) }, worker))
  return { outcomes, wallSeconds: (performance.now() - startedAt) / 1_000 }
}
