/** Checks TensorFlow: whether it sees each GPU, and whether it separates one second correctly. */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { programArguments } from '../../../../shared/process/programs.ts'
import { setUpAgain } from '../../command-name.ts'
import { gibibytes, listGpus, usesGpus } from '../../machine.ts'
import type { Context } from '../context.ts'
import { failure, okFinding, warning, type Finding } from '../finding.ts'
import type { SeparationReport, TensorFlowReport } from '../probe.ts'

const PROBE = new URL('../probe.ts', import.meta.url)
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
/** Enough for the largest models on a processor. */
const PROBE_MS_MAX = 900_000

export async function checkCompute({ engine, env }: Context): Promise<Finding[]> {
  if (!engine) return []
  const { reports, errors, ended } = await runProbe(env)
  const [tensorFlow, separation] = reports as [TensorFlowReport?, SeparationReport?]
  if (!tensorFlow) return [failure('tensorflow', failureText(errors, ended), setUpAgain())]
  const { backend, device } = tensorFlow
  const isOnGpu = usesGpus()
  const gpus = isOnGpu ? await listGpus().catch(() => []) : []
  return [
    okFinding('tensorflow', `${backend} on ${device}`),
    ...(isOnGpu ? gpuFindings(errors, gpus.length) : []),
    separation
      ? separationFinding(separation)
      : failure(
          'separation',
          failureText(errors, ended),
          'Correct MODEL, or what the message names.',
        ),
  ]
}

interface ComputeProbe {
  reports: unknown[]
  errors: string
  ended: string
}

function runProbe(env: Context['env']): Promise<ComputeProbe> {
  const child = spawn(process.execPath, programArguments(PROBE), {
    cwd: ROOT,
    // At level 0 the native library says which of its libraries are missing.
    env: { ...process.env, ...env, TF_CPP_MIN_LOG_LEVEL: '0', TF_CPP_MAX_VLOG_LEVEL: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PROBE_MS_MAX,
    killSignal: 'SIGKILL',
  })
  let [output, errors] = ['', '']
  child.stdout.on('data', (text: Buffer) => (output += text.toString()))
  child.stderr.on('data', (text: Buffer) => (errors += text.toString()))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      const lines = output.split('\n').filter((line) => line.startsWith('{'))
      const reports = lines.map((line): unknown => JSON.parse(line))
      resolve({ reports, errors, ended: `the probe ended with ${signal ?? code}` })
    })
  })
}

/** The message of the probe's first error, or else how it ended. */
const failureText = (errors: string, ended: string): string =>
  /^(?:\w*Error|\w+Error \[\w+\]): (.+)$/m.exec(errors)?.[1] ?? ended

/**
 * @param log of the native library
 * @param gpus how many nvidia-smi lists
 */
export function gpuFindings(log: string, gpus: number): Finding[] {
  const seen = [...log.matchAll(/device:GPU:(\d+) with (\d+) MB memory.*?name: ([^,]+)/g)]
  const found = seen.map(([, index, mebibytes, name]) =>
    okFinding(
      `tensorflow gpu ${index}`,
      `${name}, of which TensorFlow takes ${gibibytes(Number(mebibytes) * 2 ** 20)}`,
    ),
  )
  const isHidden = 'CUDA_VISIBLE_DEVICES' in process.env
  if (seen.length > 0 && (seen.length >= gpus || isHidden)) return found
  const missing = missingLibraries(log)
  const reason = missing.length > 0 ? `: missing ${missing.join(', ')}` : ''
  return [
    ...found,
    warning(
      'tensorflow gpus',
      `TensorFlow sees ${seen.length} of ${gpus} GPUs${reason}`,
      missing.length > 0 ? setUpAgain() : 'Compare the driver with what CUDA 12 needs: nvidia-smi.',
    ),
  ]
}

/** Libraries that the native library could not open, according to its log. */
export const missingLibraries = (log: string): string[] => [
  ...new Set(
    [...log.matchAll(/(?:Could not load dynamic library|dlopen failed:?) '?([\w.+-]+\.so[\w.]*)/g)]
      .map(([, name]) => name ?? '')
      .filter(Boolean),
  ),
]

/** Checks the result of the second: whether it contains numbers, and was separated at all. */
export function separationFinding(report: SeparationReport): Finding {
  const { model, loadSeconds, separateSeconds, targetShare, isFinite: areNumbers } = report
  const seconds = (value: number) => `${value.toFixed(1)} s`
  const times = `loaded in ${seconds(loadSeconds)}, separated in ${seconds(separateSeconds)}`
  const remedy = 'Check weights and driver. For a model of your own: npm run winnow -- parity.'
  const wrong = !areNumbers
    ? 'the result has values that are not finite'
    : targetShare < 0.01 || targetShare > 1.5
      ? `the target has ${(100 * targetShare).toFixed(0)} % of the energy of a voice over a piano`
      : ''
  if (wrong) return failure('separation', `${model}: ${wrong}`, remedy)
  return okFinding('separation', `${model} separated one second correctly: ${times}`)
}
