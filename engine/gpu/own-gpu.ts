/**
 * What the driver knows about the engine's GPU. The engine's allocator only knows how much memory
 * was free when it started, and takes it on demand, so others may have taken some since.
 */

import type { MemoryStats } from '../../models/tensorflow/binding.ts'
import { inTime, openNvml } from './nvml.ts'
import { visibleGpus } from './visible-gpus.ts'

/** The first generation with bfloat16 products (Ampere). */
const COMPUTE_MAJOR_OF_BFLOAT16 = 8

export interface OwnGpu {
  /** Whether it computes fast in bfloat16; true if the driver does not say. */
  hasBfloat16: boolean
  /** Undefined if the driver does not say, or not in time. */
  freeBytes(): Promise<number | undefined>
  /** A warning for admins, as a full sentence; empty if there is none. */
  warning: string
}

/**
 * Opens the GPU that this engine uses. Never throws.
 * @param visible as in CUDA_VISIBLE_DEVICES, starting with the engine's GPU; undefined for all
 */
export async function openOwnGpu(visible: string | undefined, open = openNvml): Promise<OwnGpu> {
  const nvml = await open()
  const [uuid] = nvml
    ? visibleGpus(
        nvml.gpus.map((gpu) => gpu.uuid),
        visible,
      )
    : []
  const gpu = nvml?.gpus.find((candidate) => candidate.uuid === uuid)
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
 * Returns how many bytes an engine may still take.
 * @param allocated statistics of its allocator, which never returns memory and so holds at least
 *   its peak
 * @param freeOnDevice according to the driver; undefined if it does not say
 */
export function freeFor({ limit, inUse, peak }: MemoryStats, freeOnDevice = Infinity): number {
  return Math.min(limit - inUse, freeOnDevice + peak - inUse)
}
