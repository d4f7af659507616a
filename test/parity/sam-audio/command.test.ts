/** Output and exit code of `npm run winnow -- parity`. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parity } from '../../support/parity/command.ts'
import { runCommand } from '../../support/processes/run-command.ts'

const FIXTURES = fileURLToPath(new URL('../../fixtures/sam-audio', import.meta.url))

const root = mkdtempSync(join(tmpdir(), 'parity-'))
after(() => rmSync(root, { recursive: true }))
/** A reference run with nothing but the prompt encoder. */
const folder = folderWith('prompts', 't5-tiny', 'golden/t5.safetensors', 'golden/t5_buckets.json')

/** Creates a reference run with these parts of the fixtures. */
function folderWith(name: string, ...parts: string[]): string {
  const path = join(root, name, 'reference')
  for (const part of ['golden/MANIFEST.json', ...parts]) {
    cpSync(join(FIXTURES, part), join(path, part), { recursive: true })
  }
  return path
}

const run = (...words: string[]) => runCommand(parity, words)

test('every tensor has a line with its error, its tolerance and what it is compared with', async () => {
  const { code, text, errors } = await run(folder)
  assert.equal(code, 0, text + errors)
  const number = String.raw`\d\.\de[-+]\d+`
  for (const line of text.trimEnd().split('\n')) {
    assert.match(line, new RegExp(`^ok +${number} of ${number} +t5 +[\\w.]+ +\\(.+\\)$`))
  }
  assert.match(text, /last_hidden_state {2}\(row 0 alone\)/)
  assert.match(errors, /^judge: not compared, for want of the judge part, judge\.safetensors$/m)
  assert.match(errors, /^14 compared, 0 of them wrong$/m)
})

test('tensors that no stage compares are named', async () => {
  const spans = folderWith(
    'spans',
    'pe-a-frame-tiny',
    'golden/span_predictor.safetensors',
    'golden/span_predictor.json',
  )
  const { errors } = await run(spans)
  assert.match(
    errors,
    /^span_predictor\.safetensors: nothing is compared with .*dac_vae_encoder\.features/m,
  )
  assert.doesNotMatch((await run(folder)).errors, /nothing is compared with/)
})

test('--json prints one line per tensor', async () => {
  const { code, text } = await run(folder, 't5', '--json')
  assert.equal(code, 0)
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(Object.keys(lines[0]), ['stage', 'file', 'name', 'against', 'error', 'allowed'])
})

test("a requested stage that can't be compared is a failure", async () => {
  const { code, errors } = await run(folder, 't5', 'judge')
  assert.equal(code, 1)
  assert.match(errors, /judge: not compared/)
})

test('a tensor beyond its tolerance is reported as wrong', async () => {
  const file = join(folder, 'golden/MANIFEST.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  manifest.files['t5.safetensors'].suggested_atol_all = 1e-12
  writeFileSync(file, JSON.stringify(manifest))
  const { code, text } = await run(folder, 't5')
  assert.equal(code, 1)
  assert.match(text, /^WRONG .*of 1\.0e-12 +t5 +hidden_states\.1/m)
  assert.match(text, /^ok .* t5 +last_hidden_state/m) // final outputs have their own tolerance
})

test('a folder without a manifest and a wrong command line are refused with a message', async () => {
  const noManifest = await run(root)
  assert.equal(noManifest.code, 1)
  assert.match(noManifest.errors, /MANIFEST\.json/)
  for (const words of [[], [folder, 'nonsense'], [folder, '--nonsense']]) {
    const { code, errors } = await run(...words)
    assert.equal(code, 2)
    assert.match(errors, /Usage: npm run winnow -- parity/)
  }
  assert.equal((await run('--help')).code, 0)
})
