/**
 * Replaces Node's timers, clocks and random numbers with simulated ones for all code in this process,
 * including those imported from `node:timers/promises` and `node:crypto`. The product need not know
 * about it, and nothing can escape it.
 */

import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { mix } from './choices.ts'
import type { ScheduledEvent, Scheduler } from './scheduler.ts'

export interface SimulatedRuntime {
  scheduler: Scheduler
  /** Epoch milliseconds. */
  wallClock: () => number
  /** Returns the factor, at least 1, by which polling pauses are stretched, as timers may be late. */
  lateness: () => number
  seed: number
}

/** Returned by the simulated setTimeout. */
class Timer {
  event: ScheduledEvent | undefined

  ref = () => this
  unref = () => this
  hasRef = () => true

  cancel(): void {
    if (this.event) this.event.canceled = true
  }
}

/** The pause of every polling loop. */
const POLL_MS = 1_000

/** @returns a function that restores the originals */
export function simulateRuntime({ scheduler, wallClock, lateness, seed }: SimulatedRuntime) {
  let drawn = 0
  const random32 = () => mix(seed, (drawn += 1))
  const stretch = (ms = 0) => (ms === POLL_MS ? ms * lateness() : Math.max(ms, 0))
  const later = (timer: Timer, ms: number | undefined, label: string, run: () => void) => {
    timer.event = scheduler.schedule(scheduler.current, stretch(ms), label, run)
  }
  const setTimeout = (run: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => {
    const timer = new Timer()
    later(timer, ms, 'timeout', () => run(...given))
    return timer
  }
  const setInterval = (run: () => void, ms?: number) => {
    const timer = new Timer()
    const again = () => {
      later(timer, ms, 'interval', again)
      run()
    }
    later(timer, ms, 'interval', again)
    return timer
  }
  const clear = (timer?: Timer) => timer?.cancel()
  const sleep = (ms?: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(aborted(signal))
      const abort = () => {
        clear(timer)
        reject(aborted(signal!))
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort)
        resolve(value)
      }, ms)
      signal?.addEventListener('abort', abort, { once: true })
    })
  const randomBytes = (size: number) => {
    const bytes = Buffer.alloc(size + 4)
    for (let i = 0; i < size; i += 4) bytes.writeUInt32LE(random32(), i)
    return bytes.subarray(0, size)
  }
  const timeoutSignal = (ms: number) => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(new DOMException('too late', 'TimeoutError')), ms)
    return controller.signal
  }
  return replace([
    [globalThis, 'setTimeout', setTimeout],
    [globalThis, 'setInterval', setInterval],
    [globalThis, 'setImmediate', (run: () => void) => setTimeout(run, 0)],
    [globalThis, 'clearTimeout', clear],
    [globalThis, 'clearInterval', clear],
    [timers, 'setTimeout', sleep],
    [timers, 'setImmediate', () => sleep(0)],
    [crypto, 'randomBytes', randomBytes],
    [crypto, 'randomUUID', () => randomBytes(16).toString('hex')],
    [Date, 'now', wallClock],
    [performance, 'now', () => scheduler.now],
    [Math, 'random', () => random32() / 2 ** 32],
    [AbortSignal, 'timeout', timeoutSignal],
    [Error, 'stackTraceLimit', 0], // thousands of errors are thrown
  ])
}

const aborted = (signal: AbortSignal) =>
  Object.assign(new Error('aborted', { cause: signal.reason }), { name: 'AbortError' })

type Replacement = [where: object, name: string, by: unknown]

function replace(replacements: readonly Replacement[]): () => void {
  const before = replacements.map(([where, name]) => Object.getOwnPropertyDescriptor(where, name))
  for (const [where, name, value] of replacements) {
    Object.defineProperty(where, name, { value, configurable: true, writable: true })
  }
  syncBuiltinESMExports()
  return () => {
    for (const [i, [where, name]] of replacements.entries()) {
      const original = before[i]
      if (original) Object.defineProperty(where, name, original)
      else Reflect.deleteProperty(where, name)
    }
    syncBuiltinESMExports()
  }
}
