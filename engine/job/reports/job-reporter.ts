/** Creates the events of one attempt, each with the log lines since the previous one. */

import type { Clock } from '../../../shared/clock.ts'
import type { Event, Job } from '../../../shared/messages.ts'
import type { EngineConfig } from '../../config.ts'
import type { DeviceMeter } from './device-meter.ts'
import { LogLines } from './log-lines.ts'

/** The fields that all events of an attempt share. */
export interface JobReporter {
  log(message: string): void
  event<T extends Event['type']>(type: T): EventHead & { type: T }
}

type EventHead = Pick<
  Event,
  'request_id' | 'attempt_id' | 'engine_id' | 'at' | 'started_at' | 'device_seconds' | 'logs'
>

export function createReporter(
  job: Pick<Job, 'request_id'>,
  attemptId: string,
  {
    config,
    clock,
    scheduler: meter,
  }: {
    config: Pick<EngineConfig, 'engineId'>
    clock: Clock
    scheduler: Pick<DeviceMeter, 'seconds'>
  },
): JobReporter {
  const lines = new LogLines()
  const now = () => new Date(clock.now()).toISOString()
  const startedAt = now()
  return {
    log: (message) => lines.add({ timestamp: now(), message }),
    event: (type) => {
      // A measurement is not an outcome. If publishing it fails, the job continues, so the lines
      // are kept for the outcome.
      const logs = type === 'measured' ? [] : lines.take()
      return {
        type,
        request_id: job.request_id,
        attempt_id: attemptId,
        engine_id: config.engineId,
        at: now(),
        started_at: startedAt,
        ...(isOutcome(type) && { device_seconds: meter.seconds }),
        logs,
      }
    },
  }
}

const isOutcome = (type: Event['type']): boolean => type !== 'started' && type !== 'measured'
