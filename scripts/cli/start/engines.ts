/** Decides which engines `npm start` runs: one for each GPU of the host, or a single one. */

import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { visibleGpus } from '../../../engine/gpu/visible-gpus.ts'
import { openNvml } from '../../../engine/gpu/nvml.ts'
import { portAfter } from '../../../gateway/config.ts'

/** Node's default number of threads, which encode and write files. */
const FILE_THREADS_DEFAULT = 4

type Environment = Readonly<Record<string, string | undefined>>

export interface EngineStart {
  name: string
  env: Environment
}

export interface EnginesOptions {
  /** UUIDs of the GPUs to use; empty for a single engine wherever TensorFlow computes. */
  gpus: readonly string[]
  /** For all engines. */
  env: Environment
  scratchFolder: string
  /** One for each engine; 0 for any free port. */
  metricsPorts: readonly (number | 'off')[]
}

/** One engine if there is no GPU. */
export const engineCount = (gpus: readonly string[]): number => Math.max(1, gpus.length)

/** The first one is called `engine`, as when there is only one. */
export function enginesFor({
  gpus,
  env,
  scratchFolder,
  metricsPorts,
}: EnginesOptions): EngineStart[] {
  const { ENGINE_ID: id, CONTROL_PORT: controlPort } = env
  return Array.from({ length: engineCount(gpus) }, (_, i) => {
    const gpu = gpus[i]
    const isFurther = i > 0
    return {
      name: isFurther ? `engine-${i + 1}` : 'engine',
      env: {
        UV_THREADPOOL_SIZE: String(Math.max(FILE_THREADS_DEFAULT, availableParallelism())),
        ...env,
        SCRATCH_DIR: isFurther ? join(scratchFolder, `engine-${i + 1}`) : scratchFolder,
        METRICS_PORT: String(metricsPorts[i]),
        ...(gpu !== undefined && { CUDA_VISIBLE_DEVICES: gpu }),
        ...(isFurther && id && { ENGINE_ID: `${id}-${i + 1}` }),
        ...(isFurther && controlPort && { CONTROL_PORT: `${portAfter(Number(controlPort), i)}` }),
      },
    }
  })
}

/**
 * UUIDs of the host's GPUs that CUDA_VISIBLE_DEVICES names, in its order.
 * @param library name of NVIDIA's library
 */
export async function gpusOf(env: Environment, library?: string): Promise<string[]> {
  const nvml = await openNvml(library)
  if (!nvml) return []
  try {
    const uuids = nvml.gpus.map(({ uuid }) => uuid)
    return visibleGpus(uuids, env.CUDA_VISIBLE_DEVICES)
  } finally {
    nvml.close()
  }
}
