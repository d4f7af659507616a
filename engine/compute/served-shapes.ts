/**
 * Runs lanes through a model in the shapes that are served, so that no request is the first of its
 * shape: kernels are loaded, graphs made, memory for the largest batch allocated, and XLA compiles.
 */

import { WARM_UP_CALLS } from '../../models/graph/graph-cache.ts'
import { laneCalls } from '../../models/memory/predict.ts'
import type { Model } from '../../models/model.ts'

/**
 * How many lanes the batches of a busy device have, all with the longest chunk; see
 * batch-policy.ts.
 */
const LANES = [1, 2, 4, 8, 16, 32]

export interface ServedShapesHost {
  /** Runs a call of the model when nothing else needs computing. */
  turn<T>(call: () => T): Promise<T>
  /** Resolves once the graph that XLA is compiling is done; null if there is none. */
  compiling(): Promise<void> | null
}

/**
 * Resolves when all shapes are warm.
 * @param framesMax of a batch
 * @throws whatever the model throws, for example when the device runs out of memory
 */
export async function warmUpServed(
  model: Model,
  framesMax: number,
  { turn, compiling }: ServedShapesHost,
): Promise<void> {
  const seconds = model.description.chunkSecondsMax
  for (const lanes of LANES) {
    let frames = 0
    let isCompiling = false
    for (let run = 1; run <= WARM_UP_CALLS || isCompiling; run += 1) {
      frames = await runInTurns(laneCalls(model, { lanes, seconds }), turn)
      isCompiling = compiling() !== null
      await compiling()
    }
    if (2 * lanes * frames > framesMax) return
  }
}

async function runInTurns(
  calls: Generator<void, number>,
  turn: ServedShapesHost['turn'],
): Promise<number> {
  for (;;) {
    const { done, value } = await turn(() => calls.next())
    if (done) return value
  }
}
