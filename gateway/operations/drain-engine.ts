/** Drains an engine, for admins: it ends its jobs and takes no more until it is started again. */

import { Type, type Static } from 'typebox'
import { MINUTE_MS } from '../../shared/durations.ts'
import { record, type ChangeDeps } from '../accounts/accounts.ts'
import { briefly, noEngine, type EngineModelDeps } from './engine-models.ts'

export const DrainedEngine = Type.Object(
  { engine_id: Type.String(), state: Type.Literal('DRAINING') },
  { title: 'DrainedEngine' },
)

/** Jobs that take longer go back to the queue. */
const DRAIN_MS = 10 * MINUTE_MS

/** @throws ServiceError `NOT_FOUND` or `SERVICE_UNAVAILABLE` if the engine does not answer */
export async function drainEngine(
  deps: EngineModelDeps & ChangeDeps,
  engineId: string,
): Promise<Static<typeof DrainedEngine>> {
  const answers = await deps.engineRegistry.askEach(async (client) => {
    await briefly(client.drain(DRAIN_MS))
    const { state } = await client.stats() // an engine that hangs has not begun
    if (state !== 'DRAINING') throw new Error(`the engine is ${state}`)
  }, engineId)
  const isDraining = answers.some(({ answer }) => answer.status === 'fulfilled')
  if (!isDraining) throw await noEngine(deps, engineId, answers)
  await record(deps, 'engine.drain', {}, { engine_ids: [engineId] })
  return { engine_id: engineId, state: 'DRAINING' }
}
