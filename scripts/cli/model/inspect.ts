/** `model inspect`: the parts of a SAM-Audio folder, and the memory that the model needs. */
import { bytesFor, framesThatFit, type MemoryPrediction } from '../../../models/memory/predict.ts'
import type { Precision } from '../../../models/tensorflow/precision.ts'
import { deviceMemory, type DeviceMemory } from './device-memory.ts'
import { predictFor, takeInventory, type Inventory, type PartInventory } from './inventory.ts'

export interface InspectOptions {
  precision: Precision
  json: boolean
}

/**
 * @returns the text to print, and whether an engine can serve the model here
 * @throws Error if the folder cannot be read
 */
export async function inspect(folder: string, { precision, json }: InspectOptions) {
  const inventory = await takeInventory(folder)
  const prediction = isComplete(inventory) ? await predictFor(folder, precision) : null
  const report = verdictOn(inventory, await deviceMemory(), prediction)
  const text = json ? `${JSON.stringify(report)}\n` : printed(report)
  return { text, canServe: report.complete && report.fits }
}

export interface Report extends Inventory {
  memory: DeviceMemory
  /** Null if the model is incomplete. */
  prediction: MemoryPrediction | null
  /** The largest batch that fits this device next to the weights, without other users. */
  batchFramesMax: number | null
  /** Whether no required part is missing and none is faulty. */
  complete: boolean
  /** Whether weights and work fit the device if nothing else uses it. */
  fits: boolean
}

/** Every part that exists must be valid; optional ones may be missing. */
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

/** Batch sizes that are listed. */
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
