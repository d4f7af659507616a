/** Finds out how much memory the device that runs models has. */
import { execFile } from 'node:child_process'
import { availableMemory, constrainedMemory } from 'node:process'
import { totalmem } from 'node:os'
import { promisify } from 'node:util'
import { deviceKind } from '../../../models/tensorflow/tensor.ts'

export interface DeviceMemory {
  device: string
  totalBytes: number
  freeBytes: number
}

/** Reads it from the first GPU of this process, or from the machine if TensorFlow runs there. */
export async function deviceMemory(): Promise<DeviceMemory> {
  return deviceKind() === 'gpu' ? await gpuMemory() : hostMemory()
}

/** A container's memory limit may be lower; 0 or a huge number means no limit. */
function hostMemory(): DeviceMemory {
  const allowed = constrainedMemory() || Infinity
  const totalBytes = Math.min(totalmem(), allowed)
  return { device: 'CPU', totalBytes, freeBytes: Math.min(availableMemory(), totalBytes) }
}

async function gpuMemory(): Promise<DeviceMemory> {
  const query = ['--query-gpu=name,memory.total,memory.free', '--format=csv,noheader,nounits']
  const visible = process.env.CUDA_VISIBLE_DEVICES?.split(',')[0]
  const device = visible ? ['-i', visible] : []
  const { stdout } = await promisify(execFile)('nvidia-smi', [...device, ...query])
  const [name = 'GPU', total, free] = stdout
    .split('\n')[0]!
    .split(',')
    .map((cell) => cell.trim())
  const bytes = (mebibytes: string | undefined) => Number(mebibytes) * 2 ** 20
  return { device: name, totalBytes: bytes(total), freeBytes: bytes(free) }
}
