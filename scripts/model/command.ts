/** The command line of `model`. */
import { parseArgs } from 'node:util'
import { bytesFor, framesThatFit, type MemoryPrediction } from '../../models/memory/predict.ts'
import { PRECISIONS, type Precision } from '../../models/precision.ts'
import { called } from '../called.ts'
import { deviceMemory, type DeviceMemory } from './device-memory.ts'
import { predictFor, takeInventory, type Inventory, type PartInventory } from './inventory.ts'

const HELP = `Usage: ${called('model', 'inspect <folder> [--precision float32] [--json]')}

Prints what the folder of a SAM-Audio model has, what is missing, how large it is, and what it takes
of the memory of this machine's device: weights, and batches of chunks of the greatest length. The
other parts (T5, the span predictor, the judge) are folders within it or beside it. Only
configurations and headers are read; numbers are when an engine loads the model.
  --precision  of the engine: float32 (default) or bfloat16
  --json       one JSON object, for programs

The exit code is 0 when an engine can serve the model here, 1 when it can't, 2 when the command line
is wrong.
`

interface World {
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
}

/** Runs the command and resolves with its exit code. */
export async function model(words: readonly string[], { stdout, stderr }: World): Promise<number> {
  const { folder, json, precision, help, problem } = parse(words)
  if (help) {
    stdout.write(HELP)
    return 0
  }
  if (problem) {
    stderr.write(`${problem}\n\n${HELP}`)
    return 2
  }
  try {
    const inventory = await takeInventory(folder)
    const prediction = isComplete(inventory) ? await predictFor(folder, precision) : null
    const report = verdictOn(inventory, await deviceMemory(), prediction)
    stdout.write(json ? `${JSON.stringify(report)}\n` : printed(report))
    return report.complete && report.fits ? 0 : 1
  } catch (error) {
    stderr.write(`${(error as Error).message}\n`)
    return 1
  }
}

function parse(words: readonly string[]): Asked {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        precision: { type: 'string', default: 'float32' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    const [name, folder = '', ...rest] = positionals
    const precision = PRECISIONS.find((each) => each === values.precision)
    const isRight = name === 'inspect' && folder !== '' && rest.length === 0
    const problem = !isRight
      ? 'The command is: inspect <folder>.'
      : precision
        ? ''
        : `--precision must be float32 or bfloat16, not "${values.precision}".`
    return { ...NOTHING, ...values, folder, precision: precision ?? 'float32', problem }
  } catch (error) {
    return { ...NOTHING, problem: (error as Error).message }
  }
}

interface Asked {
  folder: string
  precision: Precision
  json: boolean
  help: boolean
  problem: string
}

const NOTHING: Asked = { folder: '', precision: 'float32', json: false, help: false, problem: '' }

export interface Report extends Inventory {
  memory: DeviceMemory
  /** Null where the model is not complete. */
  prediction: MemoryPrediction | null
  /** The budget of one batch that fits this device beside the weights, nothing else being there. */
  batchFramesMax: number | null
  /** Whether nothing is missing that is needed, or wrong. */
  complete: boolean
  /** Whether weights and work fit the device when nothing else is on it. */
  fits: boolean
}

/** A part that there is must be sound; one that is not needed may be away. */
const isComplete = ({ parts }: Inventory): boolean =>
  parts.every(({ folder, required, problems }) =>
    folder === null ? !required : problems.length === 0,
  )

export function verdictOn(
  inventory: Inventory,
  memory: DeviceMemory,
  prediction: MemoryPrediction | null,
): Report {
  const { weightsBytes } = prediction ?? inventory
  const workBytes = prediction ? bytesFor(1, prediction) : 0
  const { totalBytes } = memory
  return {
    ...inventory,
    memory,
    prediction,
    batchFramesMax: prediction && framesThatFit(totalBytes - weightsBytes, prediction),
    complete: isComplete(inventory),
    fits: weightsBytes + workBytes <= totalBytes,
  }
}

function printed(report: Report): string {
  const { parts, warnings, complete } = report
  return [
    ...parts.flatMap(printedPart),
    ...warnings.map((warning) => `WARNING: ${warning}`),
    ...printedMemory(report),
    complete ? 'Nothing is missing that is needed.' : 'This model cannot be served as it is.',
    '',
  ].join('\n')
}

/** Lanes of the batches that are listed. */
const BATCHES = [1, 2, 4, 8, 16, 32, 64]

function printedMemory({ weightsBytes, prediction, batchFramesMax, memory, fits }: Report) {
  const { device, totalBytes, freeBytes } = memory
  const room = `${device} has ${gibibytes(totalBytes)}, ${gibibytes(freeBytes)} free`
  if (!prediction) return [`memory  ${gibibytes(weightsBytes)} of weights as float32; ${room}`]
  const { chunkSeconds, frames } = prediction
  const needed = prediction.weightsBytes + bytesFor(1, prediction)
  const free = needed <= freeBytes ? '' : ', more than is free now'
  return [
    `memory  ${gibibytes(prediction.weightsBytes)} of weights; ${room}`,
    `        with a batch of so many chunks of ${chunkSeconds} s (${frames} frames each), in all:`,
    ...BATCHES.map((lanes) => {
      const bytes = prediction.weightsBytes + bytesFor(lanes, prediction)
      return `        ${String(lanes).padStart(9)}  ${gibibytes(bytes)}`
    }),
    `        ${fits ? 'fits' : 'does not fit'}${free}; frames of a batch (BATCH_FRAMES_MAX): ` +
      `${batchFramesMax} at most`,
  ]
}

function printedPart({ part, purpose, required, folder, problems, weights }: PartInventory) {
  const need = required ? 'needed' : 'optional'
  const lines = [`${part.padEnd(6)}  ${folder ?? 'not there'}  (${purpose}; ${need})`]
  if (weights) {
    const { parameters, bytes, types, groups, file } = weights
    const size = `${millions(parameters)} parameters, ${gibibytes(bytes)}, ${types.join(', ')}`
    lines.push(`        ${file.slice((folder ?? '').length + 1)}: ${size}`)
    for (const group of groups) {
      const note = group.used ? '' : '  (not read)'
      lines.push(`          ${millions(group.parameters).padStart(9)}  ${group.name}${note}`)
    }
  }
  if (folder) for (const problem of problems) lines.push(`        PROBLEM: ${problem}`)
  return [...lines, '']
}

const millions = (count: number): string =>
  count < 1e5 ? `${count}` : `${(count / 1e6).toFixed(1)} M`

const gibibytes = (bytes: number): string =>
  bytes < 2 ** 27 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`
