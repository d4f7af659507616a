/**
 * Estimates by model how long engines still have to work, which decides how many engines there
 * should be.
 */

import { AUTO } from '../../../shared/prompts/route-prompt.ts'
import { speedOf, type DoneWork, type OpenWork, type Speed } from './time-left.ts'

/** Seconds that one engine would need for unfinished requests. */
export interface EngineSeconds {
  /** The model that they name; `auto`: none; `other`: those beyond `MODELS_MAX`. */
  model: string
  IN_QUEUE: number
  IN_PROGRESS: number
}

type LeftWork = Omit<OpenWork, 'requestId' | 'secondsAtLeast'> & {
  model: string
  status: Exclude<keyof EngineSeconds, 'model'>
}

/** Models told apart: while no engine is there, clients may name any. */
const MODELS_MAX = 20
/** How many completed requests give the speed of a model. */
const COMPLETED_MAX = 17
/** Until a request is completed: an engine is as fast as the media play, which last a minute. */
const FIRST_SPEED: Speed = { perSecond: 1, perEngineSecond: 1, meanSeconds: 60 }

/**
 * Returns what is left by model: `auto` first, then those with most.
 * @param completed in the order of their ends; if a model has none, it has the speed of all
 */
export function engineSeconds(
  left: readonly LeftWork[],
  completed: readonly (DoneWork & { model: string })[],
): EngineSeconds[] {
  const ofAll = speedOf(completed.slice(-COMPLETED_MAX)) ?? FIRST_SPEED
  const speedOfModel = (name: string) =>
    speedOf(completed.filter(({ model }) => model === name).slice(-COMPLETED_MAX)) ?? ofAll
  const speeds = new Map<string, Speed>()
  const sums = new Map([[AUTO as string, noneLeft(AUTO)]])
  for (const { model, status, mediaSeconds, weight, done } of left) {
    const speed = speeds.get(model) ?? speedOfModel(model)
    const sum = sums.get(model) ?? noneLeft(model)
    sum[status] +=
      ((mediaSeconds ?? speed.meanSeconds) * weight * (1 - done)) / speed.perEngineSecond
    speeds.set(model, speed)
    sums.set(model, sum)
  }
  return joinOthers([...sums.values()])
}

const noneLeft = (model: string): EngineSeconds => ({ model, IN_QUEUE: 0, IN_PROGRESS: 0 })

function joinOthers(sums: readonly EngineSeconds[]): EngineSeconds[] {
  const total = ({ IN_QUEUE, IN_PROGRESS }: EngineSeconds) => IN_QUEUE + IN_PROGRESS
  const isAuto = ({ model }: EngineSeconds) => Number(model === AUTO)
  const ordered = sums.toSorted((a, b) => isAuto(b) - isAuto(a) || total(b) - total(a))
  const others = ordered.slice(MODELS_MAX)
  if (others.length === 0) return ordered
  const other = others.reduce(
    (all, each) => ({
      model: 'other',
      IN_QUEUE: all.IN_QUEUE + each.IN_QUEUE,
      IN_PROGRESS: all.IN_PROGRESS + each.IN_PROGRESS,
    }),
    noneLeft('other'),
  )
  return [...ordered.slice(0, MODELS_MAX), other]
}
