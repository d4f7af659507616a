/**
 * The frame budget of a model's batches: the configured one, lowered while the device lacks memory
 * for it.
 */

import type { Logger } from '../../shared/telemetry/log.ts'
import type { LoadedModel } from './compute-messages.ts'

/** The range of the configured budget. */
export const BATCH_FRAMES = { least: 1, most: 10_000_000 }

/** A setting. @throws Error that says what it must be */
export function parseBatchFrames(text: string): number | 'auto' {
  const frames = Number(text)
  const { least, most } = BATCH_FRAMES
  if (text === 'auto') return text
  if (Number.isInteger(frames) && frames >= least && frames <= most) return frames
  throw new Error(`must be auto or a whole number from ${least} to ${most}, not "${text}"`)
}

/** `auto` at most: a larger batch is no faster, and those who come meanwhile wait for its end. */
const FRAMES_AUTO_MAX = 65_536

/**
 * The budget of a loaded model. On a processor, whose memory is not counted, `auto` is what the
 * model says: fewer frames while several requests are open, since a large batch hardly gains speed
 * there, and who comes meanwhile waits for its end.
 */
export function budgetOf(
  { description, framesFitting }: LoadedModel,
  configured: number | 'auto',
  log: Logger,
): BatchBudget {
  const frames = chooseFrames(configured, { description, framesFitting })
  const isOnProcessor = configured === 'auto' && framesFitting === null
  return new BatchBudget(
    frames,
    log,
    isOnProcessor ? description.framesOnSharedProcessor : Infinity,
  )
}

/** Frames of the largest batch of a loaded model. */
export function chooseFrames(
  configured: number | 'auto',
  { description, framesFitting }: LoadedModel,
): number {
  if (configured !== 'auto') return configured
  if (framesFitting === null) return description.framesOnProcessor
  return Math.min(framesFitting, FRAMES_AUTO_MAX)
}

/** Batches stepped before twice as many frames are retried. */
const STEPS_BEFORE_GROWTH = 1_000

export class BatchBudget {
  readonly #log: Logger
  #framesSet: number
  #framesMax: number
  #framesShared: number
  #steps = 0

  /** @param framesShared a batch has at most so many while several requests are open */
  constructor(framesMax: number, log: Logger, framesShared = Infinity) {
    this.#framesSet = framesMax
    this.#framesMax = framesMax
    this.#framesShared = framesShared
    this.#log = log
  }

  /** The configured budget, whatever memory the device has. */
  get framesSet(): number {
    return this.#framesSet
  }

  get framesMax(): number {
    return this.#framesMax
  }

  /** Frames of the next batch while so many requests are open. */
  framesFor(requests: number): number {
    return requests > 1 ? Math.min(this.#framesMax, this.#framesShared) : this.#framesMax
  }

  /** From the next batch on, however many requests are open. */
  set framesMax(frames: number) {
    this.#framesSet = frames
    this.#framesMax = frames
    this.#framesShared = Infinity
    this.#steps = 0
  }

  /** A batch was stepped. */
  stepped(): void {
    if (this.#framesMax === this.#framesSet) return
    this.#steps += 1
    if (this.#steps === STEPS_BEFORE_GROWTH) this.#resize(this.#framesMax * 2)
  }

  /**
   * The device ran out of memory. The last batch may have been small on a full device: so the
   * budget is halved, not that batch.
   */
  shrink(): void {
    this.#resize(Math.floor(this.#framesMax / 2))
    this.#log.warn({ frames_max: this.#framesMax }, 'device out of memory: batch budget halved')
  }

  #resize(frames: number): void {
    this.#framesMax = Math.min(Math.max(frames, 1), this.#framesSet)
    this.#steps = 0
  }
}
