// `npm test`: types, format and lint, then every test, fast ones first. With arguments: only the
// files whose path contains one of them, such as `npm test -- unit/engine`.

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** A file that takes longer hangs, and fails. */
const FILE_MINUTES_MAX = 20

/**
 * Files of the last folders start whole services, so those run one at a time. `isNamed`: only when
 * an argument names them, for they take many minutes.
 */
const GROUPS = [
  { folders: ['test/unit'], concurrency: 2 },
  { folders: ['test/integration', 'test/fuzz', 'test/simulation'], concurrency: 2 },
  { folders: ['test/tidy.test.ts', 'test/contract', 'test/parity'], concurrency: 2 },
  { folders: ['test/e2e', 'test/browser', 'test/fault', 'test/campaign'], concurrency: 1 },
  { folders: ['test/package'], concurrency: 1, minutesMax: 60, isNamed: true },
]

/** Files of the contract that hardly touch the database: they run on SQLite alone. */
const SQLITE_ALONE =
  /\/(client|egress|field-limits|media-stores|openapi|shared-transaction|text|timeouts|uploads)\./

const wanted = process.argv.slice(2)
const all = readdirSync('test', { recursive: true })
  .map((file) => join('test', String(file)))
  .sort()
const startedAt = Date.now()
let failed = false

if (wanted.length === 0) {
  for (const project of ['.', 'web', 'test/browser']) {
    run(`types of ${project}`, ['node_modules/typescript/bin/tsc', '--noEmit', '-p', project])
  }
  run('format', ['node_modules/prettier/bin/prettier.cjs', '--log-level=warn', '--check', '.'])
  run('lint', ['node_modules/eslint/bin/eslint.js', '.'])
}
for (const { folders, concurrency, minutesMax = FILE_MINUTES_MAX, isNamed } of GROUPS) {
  if (isNamed && !wanted.some((part) => folders.some((folder) => part.startsWith(folder)))) continue
  const files = all.filter(
    (file) =>
      file.endsWith('.test.ts') &&
      folders.some((folder) => file.startsWith(folder)) &&
      (wanted.length === 0 || wanted.some((part) => file.includes(part))),
  )
  if (files.length > 0) runTests(folders.join(', '), files, concurrency, minutesMax)
  const onBoth = files.filter((file) => file.includes('contract') && !SQLITE_ALONE.test(file))
  if (onBoth.length > 0) {
    runTests('test/contract on PostgreSQL', onBoth, concurrency, minutesMax, {
      WINNOW_TEST_DATABASE: 'postgres',
    })
  }
}
const seconds = Math.round((Date.now() - startedAt) / 1000)
console.log(`${failed ? 'FAILED' : 'All passed'} in ${seconds} s`)
process.exit(failed ? 1 : 0)

function runTests(name, files, concurrency, minutesMax, env) {
  const options = [
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${minutesMax * 60_000}`,
    '--test-reporter=spec',
  ]
  run(name, ['--import', 'tsx', '--test', ...options, ...files], env)
}

function run(name, args, env) {
  console.log(`\n=== ${name}`)
  const { status } = spawnSync(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: '3', ...env },
  })
  if (status !== 0) failed = true
}
