/** The command line of `parity`. */
import { parseArgs } from 'node:util'
import { called } from '../command-name.ts'
import { agrees, type Comparison } from './comparison.ts'
import { openComparable, type Comparable } from './comparable.ts'

const HELP = `Usage: ${called('parity', '<folder> [stage ...] [--json]')}

Compares this port of a model with what the reference computed, tensor by tensor, and prints the
largest difference of each next to the one allowed. The folder has the reference's tensors with
their MANIFEST.json and model/ (HTDemucs), or the models (config.json with weights and tokenizer,
one folder each) and golden/ with tensors and manifest (SAM-Audio).

  stage   only this part of the model (default: all that the folder has what they need for)
  --json  one JSON line per tensor, for programs

Stages and tensors that nothing is compared with, and the sum of it all, go to the standard error.
The exit code is 0 when everything agrees, 1 when something differs or could not be compared, 2 when
the command line is wrong.
`

interface World {
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
}

type Line = Comparison & { stage: string }

/** Runs the command and resolves with its exit code. */
export async function parity(words: readonly string[], { stdout, stderr }: World): Promise<number> {
  const { folder, stages, json, help, problem } = parse(words)
  if (problem || help) {
    ;(problem ? stderr : stdout).write(problem ? `${problem}\n\n${HELP}` : HELP)
    return problem ? 2 : 0
  }
  try {
    const show = (line: Line) => stdout.write(json ? `${JSON.stringify(line)}\n` : shown(line))
    const note = (text: string) => stderr.write(`${text}\n`)
    const comparable = await openComparable(folder)
    const known = Object.keys(comparable.stages)
    const unknown = stages.filter((name) => !known.includes(name))
    if (unknown.length > 0) {
      note(`There is no stage ${unknown.join(', ')}, only ${known.join(', ')}.\n\n${HELP}`)
      return 2
    }
    return await compareAll(comparable, stages, show, note)
  } catch (error) {
    stderr.write(`${(error as Error).message}\n`)
    return 1
  }
}

function parse(words: readonly string[]) {
  const nothing = { folder: '', stages: [] as string[], json: false, help: false, problem: '' }
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    })
    const [folder = '', ...stages] = positionals
    const problem = values.help || folder !== '' ? '' : 'Give the folder of a reference run.'
    return { folder, stages, json: values.json ?? false, help: values.help ?? false, problem }
  } catch (error) {
    return { ...nothing, problem: (error as Error).message }
  }
}

async function compareAll(
  comparable: Comparable,
  wanted: readonly string[],
  show: (line: Line) => void,
  note: (text: string) => void,
): Promise<number> {
  let compared = 0
  let wrong = 0
  for (const [name, { missing, run }] of Object.entries(comparable.stages)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    if (missing.length > 0) {
      note(`${name}: not compared, for want of ${missing.join(', ')}`)
      if (wanted.includes(name)) wrong += 1
      continue
    }
    for (const comparison of await run()) {
      show({ stage: name, ...comparison })
      compared += 1
      if (!agrees(comparison)) wrong += 1
    }
  }
  if (wanted.length === 0) {
    for (const { file, names } of comparable.untouched) {
      note(`${file}: nothing is compared with ${names.join(', ')}`)
    }
  }
  note(`${compared} compared, ${wrong} of them wrong`)
  return compared > 0 && wrong === 0 ? 0 : 1
}

function shown(line: Line): string {
  const { stage, name, against, error, allowed } = line
  const verdict = agrees(line) ? 'ok   ' : 'WRONG'
  const numbers = `${error.toExponential(1).padStart(8)} of ${allowed.toExponential(1)}`
  return `${verdict} ${numbers}  ${stage.padEnd(8)} ${name}  (${against})\n`
}
