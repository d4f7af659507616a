/** Checks whether the models fit the memory of the device that they would run on. */

import type { EngineConfig } from '../../../../engine/config.ts'
import type { ModelChoice } from '../../../../models/model-choice.ts'
import { gibibytes, hostMemory, listGpus, usesGpus, type Memory } from '../../machine.ts'
import type { Context } from '../context.ts'
import { failure, okFinding, warning, type Finding } from '../finding.ts'

/** Approximate memory of a busy engine with the built-in model. */
const MINI_BYTES = 1.5 * 2 ** 30
/** Approximate memory of Node, TensorFlow and media, without the model. */
const PROCESS_BYTES = 0.75 * 2 ** 30

export async function checkMemory({ engine }: Context): Promise<Finding[]> {
  if (!engine) return []
  const neededBytes = await neededBy(engine)
  const isOnGpu = usesGpus()
  const hostBytes = isOnGpu ? PROCESS_BYTES : neededBytes + PROCESS_BYTES
  const host = memoryFinding('memory', { ...hostMemory(), neededBytes: hostBytes })
  if (!isOnGpu) return [host]
  const gpus = await listGpus().catch(() => []) // the check of the driver says why there are none
  return [
    host,
    ...gpus.map((gpu) => memoryFinding(`gpu ${gpu.index} memory`, { ...gpu, neededBytes })),
  ]
}

export function memoryFinding(
  name: string,
  { neededBytes, totalBytes, freeBytes }: Memory & { neededBytes: number },
): Finding {
  const found =
    `an engine needs about ${gibibytes(neededBytes)}; ` +
    `there are ${gibibytes(totalBytes)}, ${gibibytes(freeBytes)} of them free`
  if (neededBytes > totalBytes) {
    return failure(
      name,
      found,
      'Name fewer or smaller MODELS, or take a host or GPU with more memory.',
    )
  }
  if (neededBytes <= freeBytes) return okFinding(name, found)
  return warning(name, found, 'Free some memory, unless an engine on this host is what uses it.')
}

async function neededBy(config: EngineConfig): Promise<number> {
  let bytes = 0
  for (const choice of config.models) bytes += await neededByOne(choice, config)
  return bytes
}

async function neededByOne(choice: ModelChoice, config: EngineConfig): Promise<number> {
  if (choice.kind === 'mini') return MINI_BYTES
  // this loads TensorFlow, which may be what is broken
  const { loadModel } = await import('../../../../models/load-model.ts')
  const { bytesFor, predictMemory } = await import('../../../../models/memory/predict.ts')
  const prediction = await predictMemory(() => loadModel(choice, config))
  return prediction.weightsBytes + bytesFor(1, prediction)
}
