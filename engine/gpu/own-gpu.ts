/**
 * What the driver knows of the engine's GPU. Its free memory: the engine's own allocator knows what
 * was free when it began, and takes memory only as it is needed; others may have taken it since.
 */

import type { MemoryStats } from '../../models/tensorflow/binding.ts'
import { inTime, openNvml } from './nvml.ts'
import { visibleGpus } from './visible-gpus.ts'

/** The first generation that multiplies in bfloat16 (Ampere). */
const COMPUTE_MAJOR_OF_BFLOAT16 = 8

export interface OwnGpu {
  /** Whether it computes fast in bfloat16; true where the driver does not say. */
  hasBfloat16: boolean
  /** Undefined where the driver does not say, or not in time. */
  freeBytes(): Promise<number | undefined>
  /** A note for the operator, in a sentence; empty: there is none. */
  warning: string
}

/**
 * Never throws.
 * @param visible as in CUDA_VISIBLE_DEVICES, the engine's GPU first; undefined: all
 */
export async function openOwnGpu(visible: string | undefined, open = openNvml): Promise<OwnGpu> {
  const nvml = await open()
  const [uuid] = nvml
    ? visibleGpus(
        nvml.gpus.map((gpu) => gpu.uuid),
        visible,
      )
    : []
  const gpu = nvml?.gpus.find((each) => each.uuid === uuid)
  const read = async () => {
    const { memoryTotalBytes: total, memoryUsedBytes: used } = (await gpu?.read()) ?? {}
    return total === undefined || used === undefined ? undefined : total - used
  }
  const freeBytes = () => inTime(read(), undefined)
  const isKnown = (await freeBytes()) !== undefined
  const warning = isKnown
    ? ''
    : `the driver does not say how much memory is free on the GPU ${visible ?? ''}`.trim() +
      ' (of a slice by MIG it says nothing): engines that share it may plan for the same memory'
  const hasBfloat16 = (gpu?.computeMajor ?? Infinity) >= COMPUTE_MAJOR_OF_BFLOAT16
  return { hasBfloat16, freeBytes, warning }
}

/**
 * Bytes that an engine may still take.
 * @param allocated by its allocator, which keeps what it once took: at least its peak
 * @param freeOnDevice as the driver has it; undefined: it does not say
 */
export function freeFor({ limit, inUse, peak }: MemoryStats, freeOnDevice = Infinity): number {
  return Math.min(limit - inUse, freeOnDevice + peak - inUse)
}
