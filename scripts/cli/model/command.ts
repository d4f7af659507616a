/** The command line of `model`. */
import { createInterface } from 'node:readline/promises'
import { resolve, join } from 'node:path'
import { parseArgs } from 'node:util'
import { installedFolders, readRecord, type ModelRecord } from '../../../models/installed/record.ts'
import type { StoredWidth } from '../../../models/checkpoint/write-safetensors.ts'
import { PRECISIONS } from '../../../models/precision.ts'
import { called } from '../command-name.ts'
import { CATALOGUE, type CatalogueEntry } from './catalogue.ts'
import { inspect } from './inspect.ts'
import { printedList } from './list.ts'
import { fetchModel, importModel, removeModel } from './store.ts'

const HELP = `Usage: ${called('model', '<command>')}

  list           the open models that can be fetched, and what is installed
  fetch NAME     downloads a model and installs it; asks whether you accept its licence
  import FILE…   installs a model from files that were fetched by hand: checkpoints of HTDemucs;
                 one of RoFormer with its .yaml; one of AudioSep with its .yaml and roberta-base's
                 tokenizer.json
  remove NAME    removes an installed model
  inspect FOLDER lists the parts of a SAM-Audio folder, those that are missing, and the memory that
                 the model takes on this machine's device

  --accept       fetch: accepts the licence without a question
  --half         fetch, import: keep numbers in half precision, in half the space
  --name NAME    import: what to call the model
  --stems LIST   import: of several networks, the stem that each gives, such as drums,bass
  --precision    inspect: of the engine, float32 (default) or bfloat16
  --json         list, inspect: for programs

Models lie in MODELS_DIR (default: models in DATA_DIR, which is ./data). The exit code is 0 when
done, 1 when it failed (inspect: when an engine can't serve the model here), 2 when the command line
is wrong.
`

export interface World {
  env?: Readonly<Record<string, string | undefined>>
  stdin?: NodeJS.ReadableStream & { isTTY?: boolean }
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown; isTTY?: boolean }
  /** The models that can be fetched; tests pass their own. */
  catalogue?: readonly CatalogueEntry[]
  retryDelaysMs?: readonly number[]
}

/** The command line is wrong: the message says how. */
class UsageError extends Error {}

const OPTIONS = {
  accept: { type: 'boolean', default: false },
  half: { type: 'boolean', default: false },
  name: { type: 'string' },
  stems: { type: 'string' },
  precision: { type: 'string', default: 'float32' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

type Values = ReturnType<typeof parsed>['values']

/** Runs the command and resolves with its exit code. */
export async function model(words: readonly string[], world: World): Promise<number> {
  try {
    const { values, positionals } = parsed(words)
    const [name = '', ...operands] = positionals
    if (values.help) return print(world, HELP)
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (!command) throw new UsageError(`The command is one of ${Object.keys(COMMANDS).join(', ')}.`)
    return await command(operands, values, world)
  } catch (error) {
    const { message } = error as Error
    const isUsage = error instanceof UsageError
    world.stderr.write(isUsage ? `${message}\n\n${HELP}` : `${message}\n`)
    return isUsage ? 2 : 1
  }
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], allowPositionals: true, options: OPTIONS })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

type Command = (operands: readonly string[], values: Values, world: World) => Promise<number>

const COMMANDS: Readonly<Record<string, Command>> = {
  list: async (operands, { json }, world) => {
    none(operands)
    const installed = new Map(
      [...installedFolders(modelsFolder(world))].map(([name, folder]) => [
        name,
        readRecord(folder),
      ]),
    )
    return print(world, printedList(catalogueOf(world), installed, json))
  },
  fetch: async (operands, { accept, half }, world) => {
    const name = one(operands, 'NAME')
    const entry = catalogueOf(world).find((each) => each.name === name)
    if (!entry) {
      const known = catalogueOf(world).map((each) => each.name)
      throw new UsageError(`${name} is not known; there are ${known.join(', ')}.`)
    }
    world.stderr.write(licenceStatement(entry))
    if (!accept && !(await isAccepted(world))) {
      world.stderr.write('Nothing was downloaded. To accept without a question: --accept\n')
      return 1
    }
    const record = await fetchModel(modelsFolder(world), entry, {
      ...widthOf(half),
      ...progressOf(world),
    })
    return print(world, installedLine(record, world))
  },
  import: async (operands, { half, name, stems }, world) => {
    if (operands.length === 0) throw new UsageError('Give the files to import.')
    const record = await importModel(modelsFolder(world), operands, {
      ...widthOf(half),
      ...(name !== undefined && { name }),
      ...(stems !== undefined && { stems: stems.split(',') }),
    })
    return print(world, installedLine(record, world))
  },
  remove: async (operands, _, world) => {
    const name = one(operands, 'NAME')
    await removeModel(modelsFolder(world), name)
    return print(world, `Removed ${name}.\n`)
  },
  inspect: async (operands, { precision: text, json }, world) => {
    const precision = PRECISIONS.find((each) => each === text)
    if (!precision) {
      throw new UsageError(`--precision must be float32 or bfloat16, not "${text}".`)
    }
    const report = await inspect(one(operands, 'FOLDER'), { precision, json })
    print(world, report.text)
    return report.canServe ? 0 : 1
  },
}

function one(operands: readonly string[], what: string): string {
  if (operands.length === 1) return operands[0]!
  throw new UsageError(`Give one ${what}.`)
}

function none(operands: readonly string[]): void {
  if (operands.length > 0) throw new UsageError(`list takes no ${operands[0]}.`)
}

const catalogueOf = ({ catalogue = CATALOGUE }: World) => catalogue

function modelsFolder({ env = process.env }: World): string {
  return resolve(env.MODELS_DIR || join(env.DATA_DIR || './data', 'models'))
}

const widthOf = (half: boolean): { width?: StoredWidth } => (half ? { width: 'float16' } : {})

const licenceStatement = ({ name, megabytes, licence }: CatalogueEntry): string =>
  [
    `${name}: ${megabytes} MB to download`,
    `  code     ${licence.code}`,
    `  weights  ${licence.weights}`,
    '',
  ].join('\n')

/** Without a terminal nobody can answer: it is not accepted. */
async function isAccepted({ stdin, stderr }: World): Promise<boolean> {
  if (!stdin?.isTTY) return false
  const questions = createInterface({ input: stdin, output: stderr as NodeJS.WritableStream })
  try {
    const answer = await questions.question('Do you accept this? [y/N] ')
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    questions.close()
  }
}

/** Prints a line for each file, and on a terminal its progress. */
function progressOf({ stderr, retryDelaysMs }: World) {
  let last = ''
  return {
    ...(retryDelaysMs && { retryDelaysMs }),
    onFile: (name: string) => stderr.write(`${last === '' ? '' : '\n'}downloading ${name}\n`),
    onProgress: (bytes: number, total: number | undefined) => {
      const shown = `${megabytesOf(bytes)}${total ? ` of ${megabytesOf(total)}` : ''} MB`
      if (stderr.isTTY && shown !== last) stderr.write(`\r  ${shown}`)
      last = shown
    },
  }
}

const megabytesOf = (bytes: number): string => (bytes / 1e6).toFixed(0)

function installedLine(record: ModelRecord, world: World): string {
  const unverified = record.sources.filter(({ verified }) => !verified).map(({ file }) => file)
  const note =
    unverified.length > 0 ? `No checksum is published of ${unverified.join(', ')}.\n` : ''
  return `Installed ${record.name} in ${join(modelsFolder(world), record.name)}.\n${note}`
}

function print({ stdout }: World, text: string): number {
  stdout.write(text)
  return 0
}
