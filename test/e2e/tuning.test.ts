/** The benches that an operator runs, whole: a real service, and very little time. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { API_KEY, startWinnow } from '../support/processes/start-winnow.ts'

/** Runs a bench to its end. */
async function run(program: string, ...words: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', `bench/${program}.ts`, ...words])
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()))
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-tuning-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

test('load measures a service that runs, with its stages', async (t) => {
  const winnow = await startWinnow(t)
  const out = await makeFolder(t)
  const words = ['--rate', '3', '--minutes', '0.04', '--mix', '1s:1', '--out', out]
  const { code, stderr } = await run('load', ...words, '--url', winnow.url, '--key', API_KEY)
  assert.equal(code, 0, stderr)
  const result = JSON.parse(await readFile(join(out, 'load.json'), 'utf8'))
  assert.ok(result.requests > 0)
  assert.equal(result.completed, result.requests)
  assert.deepEqual(Object.keys(result.stages_ms), [
    'submit',
    'queue',
    'read',
    'separate',
    'store',
    'notice',
  ])
})

test('tune writes settings and a table, resumes, and detects a slower service', async (t) => {
  const out = await makeFolder(t)
  const words = ['--minutes', '0.05', '--mix', '1s:1', '--slo', 'p95=30s', '--out', out]
  const first = await run('tune', ...words)
  assert.equal(first.code, 0, first.stderr)
  const settings = await readFile(join(out, 'winnow.env'), 'utf8')
  for (const name of ['BATCH_FRAMES_MAX', 'JOBS_MAX', 'CHUNKS_IN_FLIGHT_MAX']) {
    assert.match(settings, new RegExp(`^(# )?${name}=\\d+`, 'm'))
  }
  const summary = await readFile(join(out, 'summary.csv'), 'utf8')
  assert.match(summary, /^defaults,all at once,/m)
  assert.match(summary, /^defaults,at random,/m)

  const runs = join(out, 'runs.jsonl')
  const measured = await readFile(runs, 'utf8')
  const again = await run('tune', ...words, '--resume', '--compare', runs)
  assert.equal(again.code, 0, again.stderr)
  assert.equal(await readFile(runs, 'utf8'), measured, 'nothing is measured twice')
  assert.equal(await readFile(join(out, 'winnow.env'), 'utf8'), settings)

  const faster = join(out, 'faster.jsonl')
  const tenfold = (_: string, speed: string) => `"audio_seconds_per_second":${10 * Number(speed)}`
  await writeFile(faster, measured.replace(/"audio_seconds_per_second":([\d.]+)/g, tenfold))
  const compared = await run('tune', ...words, '--resume', '--compare', faster)
  assert.equal(compared.code, 1, 'a tenth of the speed is a regression')
  assert.match(compared.stdout, /"is_regression":true/)
})
