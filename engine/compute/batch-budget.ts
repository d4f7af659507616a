/**
 * The frame budget of a model's batches: the configured one, which shrinks each time the device
 * runs out of memory.
 */

import type { Logger } from '../../shared/telemetry/log.ts'
import type { LoadedModel } from './compute-messages.ts'

/** The allowed range of the configured budget. */
export const BATCH_FRAMES = { least: 1, most: 10_000_000 }

/**
 * Parses the setting.
 * @throws Error saying what it must be
 */
export function parseBatchFrames(text: string): number | 'auto' {
  const frames = Number(text)
  const { least, most } = BATCH_FRAMES
  if (text === 'auto') return text
  if (Number.isInteger(frames) && frames >= least && frames <= most) return frames
  throw new Error(`must be auto or a whole number from ${least} to ${most}, not "${text}"`)
}

/**
 * The most for `auto`: a larger batch is no faster, and requests that arrive meanwhile would wait
 * for its end.
 */
const FRAMES_AUTO_MAX = 65_536

/**
 * Returns the budget of a loaded model. On a CPU, where memory is not counted, `auto` takes
 * what the model states, which is fewer frames while several requests are open: large batches gain
 * little speed there, and requests that arrive meanwhile wait for their end.
 */
export function budgetOf(
  { description, framesFitting }: LoadedModel,
  configured: number | 'auto',
  log: Logger,
): BatchBudget {
  const frames = chooseFrames(configured, { description, framesFitting })
  const isOnCpu = configured === 'auto' && framesFitting === null
  return new BatchBudget(frames, log, isOnCpu ? description.framesOnSharedCpu : Infinity)
}

/** Returns how many frames the largest batch of a loaded model may have. */
export function chooseFrames(
  configured: number | 'auto',
  { description, framesFitting }: LoadedModel,
): number {
  if (configured !== 'auto') return configured
  if (framesFitting === null) return description.framesOnCpu
  return Math.min(framesFitting, FRAMES_AUTO_MAX)
}

/** After this many batches, twice as many frames are tried again. */
const STEPS_BEFORE_GROWTH = 1_000

export class BatchBudget {
  readonly #log: Logger
  #framesSet: number
  #framesMax: number
  #framesShared: number
  #steps = 0

  /** @param framesShared the most frames in a batch while several requests are open */
  constructor(framesMax: number, log: Logger, framesShared = Infinity) {
    this.#framesSet = framesMax
    this.#framesMax = framesMax
    this.#framesShared = framesShared
    this.#log = log
  }

  /** The configured budget, however much memory the device has. */
  get framesSet(): number {
    return this.#framesSet
  }

  get framesMax(): number {
    return this.#framesMax
  }

  /** Returns the frames of the next batch while `requests` requests are open. */
  framesFor(requests: number): number {
    return requests > 1 ? Math.min(this.#framesMax, this.#framesShared) : this.#framesMax
  }

  /** Applies from the next batch on, however many requests are open. */
  set framesMax(frames: number) {
    this.#framesSet = frames
    this.#framesMax = frames
    this.#framesShared = Infinity
    this.#steps = 0
  }

  stepped(): void {
    if (this.#framesMax === this.#framesSet) return
    this.#steps += 1
    if (this.#steps === STEPS_BEFORE_GROWTH) this.#resize(this.#framesMax * 2)
  }

  /**
   * Halves the budget after the device ran out of memory. It is the budget that is halved, not the
   * last batch, because that may have been a small one on a full device.
   */
  shrink(): void {
    this.#resize(Math.floor(this.#framesMax / 2))
    this.#log.warn({ framesMax: this.#framesMax }, 'device out of memory: batch budget halved')
  }

  #resize(frames: number): void {
    this.#framesMax = Math.min(Math.max(frames, 1), this.#framesSet)
    this.#steps = 0
  }
}
