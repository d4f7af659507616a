/** Finds out how much memory the device that runs models has. */
import { visibleGpus } from '../../../engine/gpu/visible-gpus.ts'
import { deviceKind } from '../../../models/tensorflow/tensor.ts'
import { hostMemory, listGpus, type Memory } from '../machine.ts'

export interface DeviceMemory extends Memory {
  device: string
}

/** Reads it from the first GPU of this process, or from the machine if TensorFlow runs there. */
export async function deviceMemory(): Promise<DeviceMemory> {
  if (deviceKind() !== 'gpu') return { device: 'CPU', ...hostMemory() }
  const gpus = await listGpus()
  const uuids = gpus.map(({ uuid }) => uuid)
  const [first] = visibleGpus(uuids, process.env.CUDA_VISIBLE_DEVICES)
  const { name, totalBytes, freeBytes } = gpus.find(({ uuid }) => uuid === first) ?? gpus[0]!
  return { device: name, totalBytes, freeBytes }
}
