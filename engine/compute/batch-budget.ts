/**
 * The frame budget of a batch: the configured one, lowered while the device lacks memory for it.
 */

import type { Logger } from '../../shared/telemetry/log.ts'
import type { BatchLimits } from './batch-policy.ts'

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

/** `auto` where the memory of the device is not counted: on a processor. */
const FRAMES_ON_PROCESSOR = 4_096
/** `auto` at most: a larger batch is no faster, and those who come meanwhile wait for its end. */
const FRAMES_AUTO_MAX = 65_536

/** @param framesFitting in the memory of the device, as predicted; null: not counted */
export function chooseFrames(configured: number | 'auto', framesFitting: number | null): number {
  if (configured !== 'auto') return configured
  return framesFitting === null ? FRAMES_ON_PROCESSOR : Math.min(framesFitting, FRAMES_AUTO_MAX)
}

/** Batches stepped before twice as many frames are tried again. */
const STEPS_BEFORE_GROWTH = 1_000

export class BatchBudget implements BatchLimits {
  readonly #log: Logger
  #framesSet: number
  #framesMax: number
  #steps = 0

  constructor(framesMax: number, log: Logger) {
    this.#framesSet = framesMax
    this.#framesMax = framesMax
    this.#log = log
  }

  /** The configured budget, whatever memory the device has. */
  get framesSet(): number {
    return this.#framesSet
  }

  get framesMax(): number {
    return this.#framesMax
  }

  /** From the next batch on. */
  set framesMax(frames: number) {
    this.#framesSet = frames
    this.#framesMax = frames
    this.#steps = 0
  }

  /** A batch was stepped. */
  stepped(): void {
    if (this.#framesMax === this.#framesSet) return
    this.#steps += 1
    if (this.#steps === STEPS_BEFORE_GROWTH) this.#resize(this.#framesMax * 2)
  }

  /**
   * The device ran out of memory. What it had none for may have been small, where it holds much
   * else: so the budget is halved, not that.
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
