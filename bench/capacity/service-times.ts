/** Service times of an engine by the length of the media, as lines through what was measured. */

import { closedLoop, type Send } from '../load/drive.ts'
import { quantile } from '../report.ts'
import { fitTimes, type Point } from '../statistics/fit.ts'
import type { ServiceTimes } from './simulate.ts'

export interface ServicePoint {
  audioSeconds: number
  /** Median seconds of a request that has the service to itself. */
  alone: number
  /** Seconds of the engine for a request, where it always has several. */
  demand: number
}

/** So much media at least is measured of every length. */
const AUDIO_SECONDS_LEAST = 120
const REPEATED = { alone: 5, busy: 16 }

/** @param inFlight requests at once that keep all engines busy */
export async function measureServiceTime(
  send: Send,
  audioSeconds: number,
  { engines, inFlight }: { engines: number; inFlight: number },
): Promise<ServicePoint> {
  const times = (least: number) => {
    const wanted = Math.min(least, Math.ceil(AUDIO_SECONDS_LEAST / audioSeconds) + 1)
    return Array.from({ length: Math.max(2, wanted) }, () => audioSeconds)
  }
  const busy = [...times(REPEATED.busy), ...times(REPEATED.busy)]
  await closedLoop(times(REPEATED.busy), inFlight, send) // the first of a shape are slow
  const alone = await closedLoop(times(REPEATED.alone), 1, send)
  const { wallSeconds, outcomes } = await closedLoop(busy, inFlight, send)
  const failed = [...alone.outcomes, ...outcomes].find(({ code }) => code !== 'COMPLETED')
  if (failed) throw new Error(`a request of ${audioSeconds} s ended with ${failed.code}`)
  const latencies = alone.outcomes.map(({ latencyMs }) => latencyMs / 1_000)
  const demand = (engines * wallSeconds) / busy.length
  return { audioSeconds, alone: quantile(latencies, 0.5), demand }
}

export function fitService(points: readonly ServicePoint[]): ServiceTimes {
  const line = (name: 'alone' | 'demand') => {
    const measured: Point[] = points.map((point) => ({ x: point.audioSeconds, y: point[name] }))
    const { intercept, slope } = fitTimes(measured)
    return { intercept: Math.max(0, intercept), slope }
  }
  return { alone: line('alone'), demand: line('demand') }
}
