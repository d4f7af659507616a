/** Finds out what this machine has: memory, GPUs and the build of libtensorflow. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { totalmem } from 'node:os'
import { availableMemory, constrainedMemory } from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { driverText } from '../setup/nvidia-driver.mjs'

export interface Memory {
  totalBytes: number
  freeBytes: number
}

export interface Gpu extends Memory {
  index: string
  uuid: string
  name: string
}

const TENSORFLOW = fileURLToPath(new URL('../../.runtime/tensorflow', import.meta.url))

/** Whether libtensorflow is the GPU build; undefined if it is missing. */
export function hasCudaBuild(): boolean | undefined {
  if (!existsSync(`${TENSORFLOW}/.unpacked`)) return undefined
  return existsSync(`${TENSORFLOW}/nvidia`)
}

/** Whether models run on GPUs here. */
export const usesGpus = (): boolean => hasCudaBuild() === true && driverText() !== null

/** Returns the memory of the machine, or less if a container limits it. */
export function hostMemory(): Memory {
  const limit = constrainedMemory() || Infinity // 0 or a huge number means no limit
  const totalBytes = Math.min(totalmem(), limit)
  return { totalBytes, freeBytes: Math.min(availableMemory(), totalBytes) }
}

/**
 * Lists the GPUs with nvidia-smi.
 * @throws Error if that fails
 */
export async function listGpus(): Promise<Gpu[]> {
  const query = '--query-gpu=index,uuid,name,memory.total,memory.free'
  const words = [query, '--format=csv,noheader,nounits']
  return parseGpus((await promisify(execFile)('nvidia-smi', words)).stdout)
}

export const parseGpus = (text: string): Gpu[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const cells = line.split(',').map((cell) => cell.trim())
      const [index = '', uuid = '', name = '', total, free] = cells
      const bytes = (mebibytes: string | undefined) => Number(mebibytes) * 2 ** 20
      return { index, uuid, name, totalBytes: bytes(total), freeBytes: bytes(free) }
    })

export const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`
