/** Defines the command line of `parity`. */
import { commandText } from '../../../scripts/cli/command-name.ts'
import { action, command, FLAG, UsageError } from '../../../scripts/cli/command.ts'
import { agrees, type Comparison } from './comparison.ts'
import { openComparable, type Comparable } from './comparable.ts'

const HELP = `Usage: ${commandText('parity', '<folder> [stage ...] [--json]')}

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

type Line = Comparison & { stage: string }

/** Compares a model with a run of the reference. */
export const parity = command({
  help: HELP,
  actions: action({
    operands: ['FOLDER', '[STAGE…]'],
    options: { json: FLAG },
    async run({ json }, [folder = '', ...stages], { stdout, stderr }) {
      const show = (line: Line) =>
        stdout.write(json ? `${JSON.stringify(line)}\n` : formatLine(line))
      const note = (text: string) => stderr.write(`${text}\n`)
      const comparable = await openComparable(folder)
      const stageNames = Object.keys(comparable.stages)
      const unknown = stages.filter((name) => !stageNames.includes(name))
      if (unknown.length > 0) {
        throw new UsageError(
          `There is no stage ${unknown.join(', ')}, only ${stageNames.join(', ')}.`,
        )
      }
      return compareAll(comparable, stages, show, note)
    },
  }),
})

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

function formatLine(line: Line): string {
  const { stage, name, against, error, allowed } = line
  const verdict = agrees(line) ? 'ok   ' : 'WRONG'
  const numbers = `${error.toExponential(1).padStart(8)} of ${allowed.toExponential(1)}`
  return `${verdict} ${numbers}  ${stage.padEnd(8)} ${name}  (${against})\n`
}
