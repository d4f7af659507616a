/** The command line of `model`. */
import { createInterface } from 'node:readline/promises'
import { resolve, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { foldersByName, SONGS_MODEL } from '../../../models/model-choice.ts'
import { readRecord, type ModelRecord } from '../../../models/installed/record.ts'
import { PRECISIONS } from '../../../models/tensorflow/precision.ts'
import { changeModel, readGateway } from '../admin-access.ts'
import { commandText } from '../command-name.ts'
import { action, command, FLAG, oneOf, TEXT, UsageError, type CommandIo } from '../command.ts'
import { suggestion } from '../suggestion.ts'
import { CATALOGUE, type CatalogueEntry } from '../../../engine/installing/catalogue.ts'
import { inspect } from './inspect.ts'
import { printedLicences, printedList } from './list.ts'
import { removeModel } from '../../../engine/installing/installed-folder.ts'
import { fetchModel, importModel } from '../../../engine/installing/install.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

const HELP = `Usage: ${commandText('model', '<command>')}

  list           a line for each model: built in, installed or available
  fetch NAME     download and install a model; asks you to accept its licence, unless that allows
                 any use
  import FILE…   install a model from files that you downloaded: checkpoints of HTDemucs; one of
                 SCNet or RoFormer with its .yaml; one of AudioSep with its .yaml and
                 roberta-base's tokenizer.json; one of Spleeter (model.index and its data) with
                 its .json, unless it has two stems
  load NAME      let the engines of a running service load an installed model, without a restart
  unload NAME    let them unload it, once no job uses it
  remove NAME    remove an installed model
  inspect FOLDER list the parts of a SAM-Audio folder, what is missing, and the memory that the
                 model needs on this machine's device

  --licences     list: the licence, checksum, quality and speed of each model
  --accept       fetch: accept the licence without being asked
  --name NAME    import: the name of the model
  --stems LIST   import: the stems of several networks in order, such as drums,bass
  --precision    inspect: the engine's precision, float32 (default) or bfloat16
  --json         list, inspect: print JSON for programs
  --url, --token load, unload: the gateway's URL and its ADMIN_TOKEN, unless the service runs on
                 this machine

Models are stored in MODELS_DIR (default: models in DATA_DIR, which is ./data). The exit code is 0
if done, 1 if it failed (inspect: if an engine can't serve the model here), and 2 if the command
line is wrong.
`

interface ModelIo extends CommandIo {
  /** The models that can be fetched; replaced in tests. */
  catalogue?: readonly CatalogueEntry[]
  retryDelaysMs?: readonly number[]
}

export const model = command({
  help: HELP,
  actions: {
    list: action({
      options: { licences: FLAG, json: FLAG },
      run({ licences, json }, _operands, io: ModelIo) {
        const own = { installed: modelsFolder(io), songs: songsFolder(io) }
        const folders = [...foldersByName(own)]
        const installed = new Map(folders.map(([name, folder]) => [name, readRecord(folder)]))
        return licences && !json
          ? printedLicences(catalogueOf(io), installed)
          : printedList(catalogueOf(io), installed, json)
      },
    }),
    fetch: action({
      operands: ['NAME'],
      options: { accept: FLAG },
      async run({ accept }, [name = ''], io: ModelIo) {
        const entry = catalogueOf(io).find((other) => other.name === name)
        if (!entry) {
          const names = catalogueOf(io).map((other) => other.name)
          throw new UsageError(
            `${name} is not known; there are ${names.join(', ')}.${suggestion(name, names)}`,
          )
        }
        if (entry.isBuiltIn) throw new UsageError(builtInHint(entry))
        io.stderr.write(licenceStatement(entry))
        if (!accept && !entry.isFreeToUse && !(await isAccepted(io))) {
          io.stderr.write('Nothing was downloaded. To accept without a question: --accept\n')
          return 1
        }
        const record = await fetchModel(modelsFolder(io), entry, progressOf(io))
        return installedLine(record, io)
      },
    }),
    import: action({
      operands: ['FILE…'],
      options: { name: TEXT, stems: TEXT },
      async run({ name, stems }, files, io: ModelIo) {
        const record = await importModel(modelsFolder(io), files, {
          ...(name !== undefined && { name }),
          ...(stems !== undefined && { stems: stems.split(',') }),
        })
        return installedLine(record, io)
      },
    }),
    remove: action({
      operands: ['NAME'],
      async run(_options, [name = ''], io: ModelIo) {
        await removeModel(modelsFolder(io), name)
        return `Removed ${name}.\n`
      },
    }),
    load: onEngines('load'),
    unload: onEngines('unload'),
    inspect: action({
      operands: ['FOLDER'],
      options: { precision: { ...TEXT, default: 'float32' }, json: FLAG },
      async run({ precision, json }, [folder = ''], { stdout }: ModelIo) {
        const report = await inspect(folder, {
          precision: oneOf('--precision', precision, PRECISIONS),
          json,
        })
        stdout.write(report.text)
        return report.canServe ? 0 : 1
      },
    }),
  },
})

/** Asks each engine of a running service, and does not wait for what takes long. */
function onEngines(verb: 'load' | 'unload') {
  return action({
    operands: ['NAME'],
    options: { url: TEXT, token: TEXT },
    async run(options, [name = ''], { env, signal }: ModelIo) {
      const { engines } = await changeModel(readGateway(options, env), { name, verb }, signal)
      const lines = engines.map(({ engine_id: id, state, problem }) => {
        const words = state.toLowerCase().replace('_', ' ')
        return `${id}: ${words}${problem === null ? '' : `. ${problem}`}\n`
      })
      return lines.join('')
    },
  })
}

const builtInHint = ({ name }: CatalogueEntry): string =>
  `${name} comes with Winnow: set-up fetches it (node scripts/setup/setup.mjs).`

const catalogueOf = ({ catalogue = CATALOGUE }: ModelIo) => catalogue

function modelsFolder({ env }: ModelIo): string {
  return resolve(env.MODELS_DIR || join(env.DATA_DIR || './data', 'models'))
}

function songsFolder({ env }: ModelIo): string {
  return resolve(env.SONGS_MODEL_DIR || join(ROOT, '.runtime', SONGS_MODEL))
}

const licenceStatement = ({ name, megabytes, licence }: CatalogueEntry): string =>
  [
    `${name}: about ${megabytes} MB to download`,
    `  code     ${licence.code}`,
    `  weights  ${licence.weights}`,
    '',
  ].join('\n')

/** Without a terminal nobody can answer, so it is not accepted. */
async function isAccepted({ stdin, stderr }: ModelIo): Promise<boolean> {
  if (!stdin.isTTY) return false
  const questions = createInterface({ input: stdin, output: stderr as NodeJS.WritableStream })
  try {
    const answer = await questions.question('Do you accept this? [y/N] ')
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    questions.close()
  }
}

/** Prints a line for each file and, on a terminal, its progress. */
function progressOf({ stderr, retryDelaysMs }: ModelIo) {
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

function installedLine(record: ModelRecord, io: ModelIo): string {
  const unverified = record.sources.filter(({ verified }) => !verified)
  const note = unverified.map(
    ({ file, sha256 }) => `No checksum is published of ${file}. Here its SHA-256 is ${sha256}.\n`,
  )
  const place = join(modelsFolder(io), record.name)
  return `Installed ${record.name} in ${place}.\n${note.join('')}${loadHint(record.name)}`
}

const loadHint = (name: string): string =>
  'The next start loads it. A service that runs does so now: ' +
  `${commandText('model', `load ${name}`)}\n`
