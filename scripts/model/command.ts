/** The command line of `model`. */
import { parseArgs } from 'node:util'
import { deviceMemory, type DeviceMemory } from './device-memory.ts'
import { takeInventory, type Inventory, type PartInventory } from './inventory.ts'

const HELP = `Usage: npm run model -- inspect <folder> [--json]

Prints what the folder of a SAM-Audio model has, what is missing, how large it is, and whether it
fits the memory of this machine's device. The other parts (T5, the span predictor, the judge) are
folders within it or beside it. Only configurations and headers are read; each single weight is
checked when an engine loads the model.
  --json  one JSON object, for programs

The exit code is 0 when an engine can serve the model here, 1 when it can't, 2 when the command line
is wrong.
`

interface World {
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
}

/** Runs the command and resolves with its exit code. */
export async function model(words: readonly string[], { stdout, stderr }: World): Promise<number> {
  const { folder, json, help, problem } = parse(words)
  if (help) {
    stdout.write(HELP)
    return 0
  }
  if (problem) {
    stderr.write(`${problem}\n\n${HELP}`)
    return 2
  }
  try {
    const report = verdictOn(await takeInventory(folder), await deviceMemory())
    stdout.write(json ? `${JSON.stringify(report)}\n` : printed(report))
    return report.complete && report.fits ? 0 : 1
  } catch (error) {
    stderr.write(`${(error as Error).message}\n`)
    return 1
  }
}

function parse(words: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    })
    const [name, folder = '', ...rest] = positionals
    const isRight = name === 'inspect' && folder !== '' && rest.length === 0
    const problem = isRight ? '' : 'The command is: inspect <folder>.'
    return { folder, json: values.json ?? false, help: values.help ?? false, problem }
  } catch (error) {
    return { folder: '', json: false, help: false, problem: (error as Error).message }
  }
}

export interface Report extends Inventory {
  memory: DeviceMemory
  /** Whether nothing is missing that is needed, or wrong. */
  complete: boolean
  /** Whether weights and work fit the device when nothing else is on it. */
  fits: boolean
}

/** A part that there is must be sound; one that is not needed may be away. */
export function verdictOn(inventory: Inventory, memory: DeviceMemory): Report {
  const isSound = ({ folder, required, problems }: PartInventory) =>
    folder === null ? !required : problems.length === 0
  const needed = inventory.weightsBytes + inventory.workingBytes
  return {
    ...inventory,
    memory,
    complete: inventory.parts.every(isSound),
    fits: needed <= memory.totalBytes,
  }
}

function printed(report: Report): string {
  const { parts, warnings, weightsBytes, workingBytes, memory, complete, fits } = report
  const needed = weightsBytes + workingBytes
  const free = needed <= memory.freeBytes ? '' : ', more than is free now'
  return [
    ...parts.flatMap(printedPart),
    ...warnings.map((warning) => `WARNING: ${warning}`),
    `memory  ${gibibytes(weightsBytes)} of weights as float32, about ${gibibytes(workingBytes)} ` +
      `to work in; ${memory.device} has ${gibibytes(memory.totalBytes)}, ` +
      `${gibibytes(memory.freeBytes)} free: ${fits ? 'fits' : 'does not fit'}${free}`,
    complete ? 'Nothing is missing that is needed.' : 'This model cannot be served as it is.',
    '',
  ].join('\n')
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
