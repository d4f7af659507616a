/** The outcome of a job, and how an error decides it. */

import { ERRORS, failureCode, ServiceError, type FailureCode } from '../../shared/errors.ts'
import type { Event } from '../../shared/messages.ts'
import { shortText } from '../../shared/short-text.ts'
import {
  ComputeLostError,
  DeviceError,
  LaneTooLargeError,
  ModelError,
} from '../compute/compute-errors.ts'
import { isDiskFull } from '../media/ffmpeg.ts'
import { TransientError } from '../media/retry.ts'
import type { StoreOutage } from '../media/store-outage.ts'
import { ThreadLostError } from '../threads/task-thread.ts'
import type { ScratchRoom } from './scratch-room.ts'

/**
 * `released` means that nothing was decided, and that the gateway queues the request again.
 * `interrupted` means that nothing was decided or reported, so the job must be delivered again.
 */
export type Outcome = 'completed' | 'failed' | 'released' | 'interrupted'

/**
 * `drained`: this engine can't serve the job, because it shuts down or its model was unloaded.
 * `released`: the job exceeded its time limit.
 */
type StopCause = 'canceled' | 'drained' | 'released'

/** The reason in the abort signal of an open job that is stopped. */
export class JobStoppedError extends Error {
  readonly because: StopCause
  constructor(because: StopCause) {
    super(`the job was ${because}`)
    this.name = 'JobStoppedError'
    this.because = because
  }
}

/**
 * How many attempts a job gets after errors of unknown cause, which may lie in the job or only in
 * this engine.
 */
const UNCLASSIFIED_ATTEMPTS_MAX = 2

/** Errors that come from the job's environment, not from the job. */
const TRANSIENT_ERRORS = [
  JobStoppedError,
  TransientError,
  ComputeLostError,
  DeviceError,
  ThreadLostError,
]

interface Failure {
  code: FailureCode
  message: string
}

/** Returns the permanent failure that an error means; null if another attempt may succeed. */
export function failureOf(error: unknown, attempts: number): Failure | null {
  // Any other ServiceError is a fault of the source.
  if (error instanceof ServiceError) {
    return { code: failureCode(error, 'MEDIA_FETCH_FAILED'), message: shortText(error.message) }
  }
  if (error instanceof ModelError) return failureWith('MODEL_FAILED')
  const isTransient = TRANSIENT_ERRORS.some((kind) => error instanceof kind) || isDiskFull(error)
  if (isTransient || attempts < UNCLASSIFIED_ATTEMPTS_MAX) return null
  return failureWith(error instanceof LaneTooLargeError ? 'CHUNK_TOO_LARGE' : 'MODEL_FAILED')
}

const failureWith = (code: FailureCode): Failure => ({ code, message: ERRORS[code].message })

type ReleaseCause = Extract<Event, { type: 'released' }>['cause']

/**
 * Returns why a job is released. A drain, an outage of the media store, or a disk that others have
 * filled does not count against the job.
 */
export async function releaseCauseOf(
  error: unknown,
  { store, scratch }: { store: Pick<StoreOutage, 'isAway'>; scratch: Pick<ScratchRoom, 'isFull'> },
): Promise<ReleaseCause> {
  if (error instanceof JobStoppedError && error.because === 'drained') return 'drain'
  if (isDiskFull(error)) return (await scratch.isFull()) ? 'outage' : 'interruption'
  return error instanceof TransientError && (await store.isAway()) ? 'outage' : 'interruption'
}
