import assert from 'node:assert/strict'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { model } from '../../../../scripts/cli/model/command.ts'
import { verdictOn, type Report } from '../../../../scripts/cli/model/inspect.ts'
import { bytesFor } from '../../../../models/memory/predict.ts'
import { predictFor, takeInventory } from '../../../../scripts/cli/model/inventory.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { runCommand } from '../../../support/processes/run-command.ts'

const FIXTURES = fileURLToPath(new URL('../../../fixtures/sam-audio', import.meta.url))

const root = temporaryFolder({ after })

/** Makes a folder with copies of these fixtures. */
function folderWith(name: string, ...parts: string[]): string {
  const folder = join(root, name, 'models')
  mkdirSync(folder, { recursive: true })
  for (const part of parts) cpSync(join(FIXTURES, part), join(folder, part), { recursive: true })
  return folder
}

const run = (...words: string[]) => runCommand(model, words)

test('a folder with all its parts can be served; the report lists the parts and their sizes', async () => {
  const { code, text } = await run('inspect', join(FIXTURES, 'sam-audio-tiny'))
  assert.equal(code, 0, text)
  assert.match(text, /checkpoint\.pt: 0\.9 M parameters, 3\.7 MiB, FloatStorage/)
  assert.match(text, /vision_encoder {2}\(not read\)/)
  assert.match(text, /^judge .*judge-tiny/m)
  assert.match(text, /with a batch of so many chunks of 60 s \(1500 frames each\)/)
  assert.match(text, /fits/)
  assert.match(text, /Nothing is missing that is needed/)
})

test('for programs the report is one JSON object', async () => {
  const { code, text } = await run('inspect', FIXTURES, '--json')
  const { parts, complete, fits, weightsBytes } = JSON.parse(text) as Report
  assert.deepEqual([code, complete, fits], [0, true, true])
  assert.deepEqual(
    parts.map(({ part }) => part),
    ['model', 'text', 'spans', 'judge'],
  )
  const model = parts[0]!.weights!
  const vision = model.groups.find(({ name }) => name === 'vision_encoder')!
  assert.equal(model.parameters, 924_934)
  assert.equal(model.memoryBytes, 4 * (model.parameters - vision.parameters))
  assert.equal(
    weightsBytes,
    parts.reduce((sum, { weights }) => sum + weights!.memoryBytes, 0),
  )
})

test('required parts must exist, the others need not', async () => {
  const bare = await run('inspect', folderWith('bare', 'sam-audio-tiny'))
  assert.equal(bare.code, 1)
  assert.match(bare.text, /^text {4}not there/m)
  assert.match(bare.text, /cannot be served/)
  const enough = await run('inspect', folderWith('enough', 'sam-audio-tiny', 't5-tiny'))
  assert.equal(enough.code, 0, enough.text)
  assert.match(enough.text, /^judge {3}not there/m)
})

test('everything that is wrong with a part is reported', async () => {
  const folder = folderWith('broken', 'sam-audio-tiny', 't5-tiny', 'judge-tiny')
  rmSync(join(folder, 't5-tiny/tokenizer.json'))
  rmSync(join(folder, 'judge-tiny/checkpoint.pt'))
  cpSync(
    join(folder, 't5-tiny/model.safetensors'),
    join(folder, 'sam-audio-tiny/model.safetensors'),
  )
  const { code, text } = await run('inspect', folder)
  assert.equal(code, 1)
  assert.match(text, /PROBLEM: tokenizer\.json is missing/)
  assert.match(text, /PROBLEM: .*judge-tiny: no checkpoint is there/)
  assert.match(text, /PROBLEM: the weights audio_codec are missing from model\.safetensors/)
  writeFileSync(join(folder, 'sam-audio-tiny/model.safetensors'), 'no weights at all')
  assert.match(
    (await run('inspect', folder)).text,
    /PROBLEM: .*model\.safetensors: not a safetensors/,
  )
})

test('a model larger than the device does not fit', async () => {
  const inventory = await takeInventory(FIXTURES)
  const prediction = await predictFor(FIXTURES, 'float32')
  const needed = prediction.weightsBytes + bytesFor(1, prediction)
  const on = (totalBytes: number) =>
    verdictOn(inventory, { device: 'CPU', totalBytes, freeBytes: totalBytes }, prediction)
  assert.deepEqual([on(needed).fits, on(needed - 1).fits], [true, false])
  assert.ok(on(100 * needed).batchFramesMax! > 10 * prediction.frames)
  assert.equal(on(needed).batchFramesMax, prediction.frames)
})

test('half precision takes less', async () => {
  const words = ['inspect', FIXTURES, '--json', '--precision']
  const weightsIn = async (precision: string) =>
    (JSON.parse((await run(...words, precision)).text) as Report).prediction!.weightsBytes
  const whole = await weightsIn('float32')
  assert.ok((await weightsIn('bfloat16')) < whole)
  assert.equal((await run(...words, 'int8')).code, 2)
})

test('several models in one folder are distinguished by name only', async () => {
  const folder = folderWith('several', 'sam-audio-tiny', 't5-tiny')
  cpSync(join(folder, 'sam-audio-tiny'), join(folder, 'sam-audio-other'), { recursive: true })
  const { code, errors } = await run('inspect', folder)
  assert.equal(code, 1)
  assert.match(errors, /several folders .*sam-audio-other, .*sam-audio-tiny/)
  assert.equal((await run('inspect', join(folder, 'sam-audio-tiny'))).code, 0)
  cpSync(join(folder, 't5-tiny'), join(folder, 't5-other'), { recursive: true })
  const { text } = await run('inspect', join(folder, 'sam-audio-tiny'))
  assert.match(text, /^text .*t5-tiny/m) // as named by the configuration
})

test('a damaged configuration is reported if it belongs to a part, not if it is only nearby', async () => {
  const folder = folderWith('damaged', 'sam-audio-tiny', 't5-tiny')
  mkdirSync(join(folder, 'something-else'))
  writeFileSync(join(folder, 'something-else/config.json'), '{ // not JSON')
  const own = await run('inspect', folder)
  assert.equal(own.code, 1)
  assert.match(own.errors, /something-else\/config\.json: can't be read as JSON/)
  assert.equal((await run('inspect', join(folder, 'sam-audio-tiny'))).code, 0)
  const text = await run('inspect', join(folder, 't5-tiny'))
  assert.match(text.text, /^model {3}not there/m) // the model next to it was not asked for
  assert.equal((await run('inspect', join(folder, 'nowhere'))).code, 1)
})

test('a wrong command line says what would be right', async () => {
  for (const words of [
    [],
    ['inspect'],
    ['look', '.'],
    ['inspect', '.', '.'],
    ['inspect', '.', '--x'],
  ]) {
    const { code, text, errors } = await run(...words)
    assert.deepEqual([code, text], [2, ''])
    assert.match(errors, /Usage: npm run model/)
  }
  const { code, text } = await run('--help')
  assert.equal(code, 0)
  assert.match(text, /Usage/)
})
