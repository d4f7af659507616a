// Runs the tests, two files at a time for each processor:
//   node scripts/tools/test.mjs --tier quick|rest|all|nightly [--shard 2/4]
//   node scripts/tools/test.mjs PART ...     the files whose path contains one of the parts
// `all` is `quick` and `rest`; docs/development.md says what each tier contains. A tier also fails
// if its files start more processes than its budget. Unlike time, that measure of work does not
// depend on the machine.

import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { RUNTIME } from '../setup/files.mjs'
import { compileTests } from './test/compile.mjs'
import { chooseFiles, inShard, shardOf } from './test/tiers.mjs'

/**
 * A file that takes longer has hung, and fails. Nightly files get more, because building a package
 * takes minutes.
 */
const FILE_MINUTES_MAX = 20
const NIGHTLY_FILE_MINUTES_MAX = 60
/** How many processes the files of a tier may start, over all shards. */
const PROCESSES_MAX = { quick: 30, rest: 640, all: 670 }
const SLOWEST = 10
const TSC = 'node_modules/typescript-native/bin/tsc'
/** Two for each processor, because a file spends half of its time waiting. */
const CONCURRENCY = 2 * availableParallelism()
const SOAK_MINUTES = 30
/** Matches files with random tests, which run with a new seed every night. */
const IS_RANDOM = /support\/basics\/(property|test-seed)\.ts'/

const { values, positionals: parts } = parseArgs({
  allowPositionals: true,
  options: { tier: { type: 'string' }, shard: { type: 'string', default: '1/1' } },
})
const tier = values.tier ?? (parts.length > 0 ? null : 'quick')
const shard = shardOf(values.shard)
const startedAt = Date.now()
const reports = mkdtempSync(join(tmpdir(), 'winnow-test-'))
const report = join(reports, 'work.jsonl')
const failed = []
/** What failed in the tests, and why. */
const failures = []
/** The source of each test file, by the name of its compiled file. */
const sources = new Map()
try {
  if (['quick', 'all'].includes(tier) && shard.index === 0) await runChecks()
  if (tier === 'nightly') await runNightly()
  else await runTier()
  printWork()
  if (failed.length > 0) console.log(`\n${failures.join('')}`)
} finally {
  rmSync(reports, { recursive: true })
}
const seconds = Math.round((Date.now() - startedAt) / 1_000)
console.log(failed.length > 0 ? `FAILED: ${failed.join('; ')}` : `All passed in ${seconds} s`)
process.exitCode = failed.length > 0 ? 1 : 0

function allFiles() {
  return readdirSync('test', { recursive: true })
    .map((file) => join('test', String(file)))
    .filter((file) => file.endsWith('.test.ts'))
    .sort()
}

/** Where the incremental type check of a project keeps its state between runs. */
function typesOf(project) {
  return join(RUNTIME, 'types', `${project.replaceAll(/\W/g, '-')}.tsbuildinfo`)
}

/** Checks types in parallel with format and lint, since each uses one thread. */
async function runChecks() {
  await Promise.all([
    runInTurn(
      ['.', 'web', 'test/browser'].map((project) => [
        `types of ${project}`,
        [TSC, '--noEmit', '-p', project, '--incremental', '--tsBuildInfoFile', typesOf(project)],
      ]),
    ),
    runInTurn([
      ['format', ['node_modules/prettier/bin/prettier.cjs', '--log-level=warn', '--check', '.']],
      ['lint', ['node_modules/oxlint/bin/oxlint', '.']],
    ]),
  ])
}

async function runInTurn(programs) {
  for (const [name, args] of programs) await run(name, args)
}

async function runTier() {
  const { files, onPostgres } = chooseFiles(allFiles(), tier, parts)
  if (files.length === 0) failed.push(`no file of tests has ${parts.join(' or ')} in its path`)
  await runTests('tests', inShard(files, shard))
  await runTests('contract on PostgreSQL', inShard(onPostgres, shard), {
    WINNOW_TEST_DATABASE: 'postgres',
  })
}

/** Runs the nightly tier with a fresh random seed. */
async function runNightly() {
  const seed = String(randomInt(2 ** 31))
  console.log(`WINNOW_TEST_SEED=${seed}`)
  const env = { WINNOW_TEST_SEED: seed }
  const all = allFiles()
  const { files } = chooseFiles(all, 'nightly')
  const random = all.filter(
    (file) => !files.includes(file) && IS_RANDOM.test(readFileSync(file, 'utf8')),
  )
  await runTests('new seeds', random, env)
  await runTests('campaign, packages, systemd', files, env, { concurrency: 1 })
  const soak = ['test/campaign/main.ts', '--minutes', String(SOAK_MINUTES), '--seed', seed]
  await run('soak', ['--import', 'tsx', ...soak])
  await run('songs', ['--import', 'tsx', 'bench/songs.ts'])
}

async function runTests(name, files, env = {}, { concurrency = CONCURRENCY } = {}) {
  if (files.length === 0) return
  const minutes = tier === 'nightly' ? NIGHTLY_FILE_MINUTES_MAX : FILE_MINUTES_MAX
  const why = join(reports, 'failures.txt')
  const options = [
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${minutes * 60_000}`,
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=./scripts/tools/test/failures.mjs', `--test-reporter-destination=${why}`],
  ]
  const preloads = ['--enable-source-maps', '--import', './scripts/tools/test/count-work.mjs']
  const compiled = await compileTests(files)
  for (const [i, path] of compiled.files.entries()) sources.set(basename(path), files[i])
  try {
    await run(
      `${name}: ${files.length} files, ${concurrency} at once`,
      [...preloads, '--test', ...options, ...compiled.files],
      { ...env, WINNOW_TEST_WORK: report },
    )
    failures.push(readFileSync(why, 'utf8'))
  } finally {
    compiled.remove()
  }
}

async function run(name, args, env = {}) {
  console.log(`\n=== ${name}`)
  const program = spawn(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: '3', ...env },
  })
  const [code] = await once(program, 'exit')
  if (code !== 0) failed.push(name)
}

/** Prints the files that took most processor time, and fails the run if it exceeded its budget. */
function printWork() {
  const lines = existsSync(report) ? readFileSync(report, 'utf8').trim().split('\n') : []
  const work = lines.map((line) => JSON.parse(line)).sort((a, b) => b.seconds - a.seconds)
  const sum = (name) => work.reduce((total, file) => total + file[name], 0)
  const processes = sum('processes')
  console.log(`\n=== The slowest of ${work.length} files, in seconds of a processor`)
  for (const { file, seconds, processes: started } of work.slice(0, SLOWEST)) {
    console.log(`${seconds.toFixed(1).padStart(7)}  ${sources.get(file)}, ${started} processes`)
  }
  console.log(`${sum('seconds').toFixed(1).padStart(7)}  all, ${processes} processes`)
  const most = Math.ceil((PROCESSES_MAX[tier] ?? Infinity) / shard.count)
  if (processes > most) failed.push(`started ${processes} processes; the budget is ${most}`)
}
