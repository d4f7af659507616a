// `winnow coverage [TEXT …]`: prints the share of lines, branches and functions in each folder that
// the tests run, as measured by Node's own coverage. With arguments, runs only the test files whose
// path contains one of them. A process that a test kills writes no coverage, so the true figures
// are slightly higher.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const FOLDERS = ['shared', 'gateway', 'engine', 'models', 'clients', 'scripts']
const COUNTS = { lines: ['LF', 'LH'], branches: ['BRF', 'BRH'], functions: ['FNF', 'FNH'] }

const parts = process.argv.slice(2)
const files = readdirSync('test', { recursive: true })
  .map((file) => join('test', String(file)))
  .filter((file) => file.endsWith('.test.ts'))
  .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
const folder = mkdtempSync(join(tmpdir(), 'winnow-coverage-'))
try {
  const report = join(folder, 'lcov.info')
  const { status } = spawnSync(
    process.execPath,
    [
      ...['--enable-source-maps', '--experimental-test-coverage', '--import', 'tsx', '--test'],
      ...['--test-concurrency=1', '--test-reporter=dot', '--test-reporter-destination=stdout'],
      ...['--test-reporter=lcov', `--test-reporter-destination=${report}`],
      ...files,
    ],
    { stdio: 'inherit', env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: '3' } },
  )
  print(sumByFolder(readFileSync(report, 'utf8')))
  process.exitCode = status ?? 1
} finally {
  rmSync(folder, { recursive: true })
}

/** Adds up the counts of an lcov report by top-level folder. */
function sumByFolder(lcov) {
  const sums = new Map(FOLDERS.map((name) => [name, {}]))
  for (const record of lcov.split('end_of_record')) {
    const [, top] = /^SF:(.*?)\//m.exec(record) ?? []
    for (const [, name, count] of record.matchAll(/^([A-Z]+):(\d+)$/gm)) {
      const sum = sums.get(top)
      if (sum) sum[name] = (sum[name] ?? 0) + Number(count)
    }
  }
  return sums
}

function print(sums) {
  const all = {}
  for (const counts of sums.values()) {
    for (const [name, count] of Object.entries(counts)) all[name] = (all[name] ?? 0) + count
  }
  const share = (counts, [total, hit]) =>
    counts[total] ? `${((100 * counts[hit]) / counts[total]).toFixed(1)} %` : '-'
  const rows = [...sums, ['all', all]].map(([name, counts]) => ({
    folder: name,
    ...Object.fromEntries(
      Object.entries(COUNTS).map(([title, names]) => [title, share(counts, names)]),
    ),
  }))
  console.table(Object.fromEntries(rows.map(({ folder, ...shares }) => [folder, shares])))
}
