/** The GPU report runs in full on a processor, with tiny shapes, and resumes after an interruption. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gpuReport } from '../../bench/gpu-report/command.ts'
import { PARTS } from '../../bench/gpu-report/parts.ts'
import type { Programme } from '../../bench/gpu-report/report.ts'
import { runCommand } from '../support/processes/run-command.ts'

const out = mkdtempSync(join(tmpdir(), 'gpu-report-'))
after(() => rmSync(out, { recursive: true }))

const TINY = ['--sizes', 'tiny', '--batches', '1,2', '--seconds', '1', '--requests', '1,2']
const run = (...words: string[]) =>
  runCommand(gpuReport, ['--out', out, ...TINY, '--soak', '1', ...words])
const reportOf = () => JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as Programme

test('every part succeeds, and the report has its results', async () => {
  const { code, errors } = await run()
  assert.equal(code, 0, errors)
  const { parts, machine } = reportOf()
  assert.deepEqual(Object.keys(parts), Object.keys(PARTS))
  for (const [name, { rows, failure }] of Object.entries(parts)) {
    assert.ok(failure === undefined && rows.length > 0, `${name}: ${failure}`)
  }
  const beyond = (name: string) =>
    parts[name]!.rows.map((row) => Number(row['beyond what is allowed']))
  assert.ok(beyond('parity-float32').every((count) => count === 0))
  assert.equal(parts.kernels!.rows[0]!['without a GPU kernel'], 'none')
  assert.deepEqual(
    parts.transformer!.rows.map(({ precision, batch }) => [precision, batch]),
    [
      ['bfloat16', 1],
      ['bfloat16', 2],
      ['float32', 1],
      ['float32', 2],
    ],
  )
  const text = readFileSync(join(out, 'report.md'), 'utf8')
  assert.match(text, /## service: whole requests/)
  if (!machine.isOnGpu) assert.match(text, /No GPU was used/)
})

test('a part is killed at its time limit', async () => {
  const ended = await run('--parts', 'kernels', '--again', '--limit', '0.1')
  assert.equal(ended.code, 1)
  assert.match(reportOf().parts.kernels!.failure!, /SIGKILL/)
})

test('finished parts are not repeated, and a failed one is reported and can be run again', async () => {
  const file = (name: string) => join(out, 'parts', `${name}.json`)
  const before = statSync(file('doctor')).mtimeMs
  rmSync(file('kernels'))
  const again = await run()
  assert.match(again.text, /^kernels: /)
  assert.equal(statSync(file('doctor')).mtimeMs, before)

  const failed = await run('--parts', 'transformer', '--again', '--sizes', 'tiny,giant')
  assert.equal(failed.code, 1)
  assert.match(failed.errors, /not ended well: transformer/)
  assert.match(reportOf().parts.transformer!.failure!, /Error: /)
  assert.equal(reportOf().parts.transformer!.rows.length, 4, 'what was found before is kept')
  assert.match(readFileSync(join(out, 'report.md'), 'utf8'), /\*\*Failed\*\*/)
  writeFileSync(file('transformer'), JSON.stringify({ title: '', seconds: 1, rows: [] }))
  assert.equal((await run('--parts', 'transformer')).code, 0)
})

test('a wrong command line says what would be right', async () => {
  for (const words of [['--parts', 'everything'], ['--batches', '0'], ['--x']]) {
    const { code, errors } = await run(...words)
    assert.equal(code, 2, words.join(' '))
    assert.match(errors, /Usage: npm run winnow -- gpu-report/)
  }
  assert.equal((await runCommand(gpuReport, [])).code, 2)
})
