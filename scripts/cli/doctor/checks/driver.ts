/** Checks NVIDIA's driver, the GPUs that it reports, and whether libtensorflow is the GPU build. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { setUpAgain } from '../../command-name.ts'
import { driverProblem, driverText, driverVersion } from '../../../setup/nvidia-driver.mjs'
import type { Context } from '../context.ts'
import { failure, okFinding, unusedFinding, warning, type Finding } from '../finding.ts'

export interface Gpu {
  index: string
  uuid: string
  name: string
  totalBytes: number
  freeBytes: number
}

const RUNTIME = fileURLToPath(new URL('../../../../.runtime', import.meta.url))

/** Whether libtensorflow is the GPU build; undefined if it is missing. */
export function hasCudaBuild(): boolean | undefined {
  if (!existsSync(`${RUNTIME}/tensorflow/.unpacked`)) return undefined
  return existsSync(`${RUNTIME}/tensorflow/nvidia`)
}

export async function checkDriver({ engine }: Context): Promise<Finding[]> {
  if (engine === undefined) return []
  return [driverFinding(driverText(), hasCudaBuild()), ...(await gpuFindings())]
}

/** @param text of /proc/driver/nvidia/version; null if there is none */
export function driverFinding(text: string | null, hasCuda: boolean | undefined): Finding {
  if (hasCuda === undefined) {
    return failure('tensorflow', 'libtensorflow is not there', setUpAgain())
  }
  const problem = driverProblem(text)
  if (hasCuda && problem) {
    const remedy = `Install a driver, or the build for processors: ${setUpAgain('cpu')}`
    return warning('driver', `libtensorflow is the build for GPUs, but ${problem}`, remedy)
  }
  if (hasCuda) return okFinding('driver', `${driverVersion(text ?? '')}, libtensorflow for GPUs`)
  if (problem) return unusedFinding('driver', 'no GPU is asked for: libtensorflow for processors')
  const found = `${driverVersion(text ?? '')}, but libtensorflow is the build for processors`
  return warning('driver', found, setUpAgain('cuda'))
}

async function gpuFindings(): Promise<Finding[]> {
  if (driverText() === null) return []
  try {
    const gpus = await listGpus()
    return gpus.map(({ index, name, uuid, totalBytes, freeBytes }) => {
      const memory = `${gibibytes(totalBytes)}, ${gibibytes(freeBytes)} free`
      return okFinding(`gpu ${index}`, `${name}, ${memory}, ${uuid}`)
    })
  } catch (error) {
    const [line] = (error as Error).message.split('\n')
    return [failure('gpus', `nvidia-smi: ${line}`, 'Install nvidia-smi, or look at dmesg for Xid.')]
  }
}

/** Lists this host's GPUs with nvidia-smi. @throws Error if that fails */
export async function listGpus(): Promise<Gpu[]> {
  const query = '--query-gpu=index,uuid,name,memory.total,memory.free'
  const { stdout } = await promisify(execFile)('nvidia-smi', [
    query,
    '--format=csv,noheader,nounits',
  ])
  return parseGpus(stdout)
}

export const parseGpus = (text: string): Gpu[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [index = '', uuid = '', name = '', total, free] = line
        .split(',')
        .map((cell) => cell.trim())
      return {
        index,
        uuid,
        name,
        totalBytes: Number(total) * 2 ** 20,
        freeBytes: Number(free) * 2 ** 20,
      }
    })

export const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`
