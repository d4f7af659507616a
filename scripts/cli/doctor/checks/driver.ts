/** Checks NVIDIA's driver, the GPUs that it reports, and whether libtensorflow is the GPU build. */

import { setUpAgain } from '../../command-name.ts'
import { gibibytes, hasCudaBuild, listGpus } from '../../machine.ts'
import { driverProblem, driverText, driverVersion } from '../../../setup/nvidia-driver.mjs'
import type { Context } from '../context.ts'
import { failure, okFinding, unusedFinding, warning, type Finding } from '../finding.ts'

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
