/** Folders as operators have them: other spellings and files, the same network. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readJudgeConfig } from '../../../models/sam-audio/judge/judge.ts'
import { readSpanPredictorConfig } from '../../../models/sam-audio/spans/span-predictor.ts'
import { loadTextEncoder } from '../../../models/sam-audio/text/text-encoder.ts'
import { countOf } from '../../../models/stored-tensor.ts'
import { openTensors } from '../../../models/weights.ts'
import { takeInventory } from '../../../scripts/model/inventory.ts'
import { FIXTURES } from './folders.ts'

const root = mkdtempSync(join(tmpdir(), 'published-'))
after(() => rmSync(root, { recursive: true }))

/** A copy of a part of the fixtures. */
function copyOf(part: string, name: string): string {
  const folder = join(root, name, part)
  cpSync(join(FIXTURES, part), folder, { recursive: true })
  return folder
}

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

/** Writes these tensors of a safetensors file to one of their own. */
function writeTensors(file: string, from: string, names: readonly string[]): void {
  const tensors = openTensors(from)
  const header: Record<string, unknown> = {}
  const data = names.map((name) => Buffer.from(Float32Array.from(tensors.get(name)!.values()).buffer))
  let at = 0
  for (const name of names) {
    const { shape } = tensors.get(name)!
    header[name] = { dtype: 'F32', shape, data_offsets: [at, at += 4 * countOf(shape)] }
  }
  const text = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(text.length))
  writeFileSync(file, Buffer.concat([length, text, ...data]))
}

const PROMPTS = ['man speaking', 'a dog barking loudly in the distance']

async function statesOf(folder: string): Promise<Float32Array> {
  const { states } = (await loadTextEncoder(folder, 512)).encode(PROMPTS)
  return states.dataSync<'float32'>()
}

test('T5 without tokenizer_config.json: its padding is that of config.json', async () => {
  const folder = copyOf('t5-tiny', 'bare')
  rmSync(join(folder, 'tokenizer_config.json'))
  assert.deepEqual(await statesOf(folder), await statesOf(join(FIXTURES, 't5-tiny')))
  const config = readJson(join(folder, 'config.json'))
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, pad_token_id: undefined }))
  await assert.rejects(loadTextEncoder(folder, 512), /no padding: pad_token .* or pad_token_id/)
})

test('weights in several files are those of one', async () => {
  const folder = copyOf('t5-tiny', 'sharded')
  const whole = join(folder, 'model.safetensors')
  const names = [...openTensors(whole).keys()]
  const map = Object.fromEntries(names.map((name, i) => [name, `model-0000${1 + (i % 2)}-of-00002.safetensors`]))
  for (const shard of new Set(Object.values(map))) {
    writeTensors(join(folder, shard), whole, names.filter((name) => map[name] === shard))
  }
  rmSync(whole)
  const index = join(folder, 'model.safetensors.index.json')
  writeFileSync(index, JSON.stringify({ metadata: {}, weight_map: map }))
  assert.deepEqual(await statesOf(folder), await statesOf(join(FIXTURES, 't5-tiny')))
  const text = (await takeInventory(folder)).parts.find(({ part }) => part === 'text')!
  assert.deepEqual([text.problems, text.weights!.file], [[], index])
  writeFileSync(index, JSON.stringify({ weight_map: { shared: '../elsewhere.safetensors' } }))
  await assert.rejects(loadTextEncoder(folder, 512), /weight_map must name safetensors files beside it/)
})

test('pytorch_model.bin is read as a state dict', async () => {
  const folder = copyOf('judge-tiny', 'bin')
  cpSync(join(folder, 'checkpoint.pt'), join(folder, 'pytorch_model.bin'))
  rmSync(join(folder, 'checkpoint.pt'))
  const judge = (await takeInventory(folder)).parts.find(({ part }) => part === 'judge')!
  assert.deepEqual([judge.problems, judge.weights!.file], [[], join(folder, 'pytorch_model.bin')])
})

test('the base of rotary positions is read in either spelling, and needed', async () => {
  const folder = copyOf('judge-tiny', 'rope')
  const file = join(folder, 'config.json')
  const before = await readJudgeConfig(file)
  const { text_model: text, transformer, ...config } = readJson(file)
  const { global_rope_theta: full, local_rope_theta: sliding, ...bare } = text
  const { rope_theta: theta, ...plain } = transformer
  const write = (textModel: object, audio: object) =>
    writeFileSync(file, JSON.stringify({ ...config, text_model: textModel, transformer: audio }))
  const parameters = { full_attention: { rope_theta: full }, sliding_attention: { rope_theta: sliding } }
  write({ ...bare, rope_parameters: parameters }, { ...plain, rope_parameters: { rope_theta: theta } })
  assert.deepEqual(await readJudgeConfig(file), before)
  write(bare, transformer)
  await assert.rejects(readJudgeConfig(file),
    /global_rope_theta \(or rope_parameters\.full_attention\.rope_theta\) must be a positive number/)
  write({ ...bare, global_rope_theta: full }, transformer)
  await assert.rejects(readJudgeConfig(file), /local_rope_theta \(or .*sliding_attention/)
  write(text, plain)
  await assert.rejects(readJudgeConfig(file), /config\.json: rope_theta \(or rope_parameters\.rope_theta\)/)
  const spans = join(copyOf('pe-a-frame-tiny', 'rope'), 'config.json')
  writeFileSync(spans, JSON.stringify({ ...readJson(spans), text_model: bare }))
  await assert.rejects(readSpanPredictorConfig(spans), /global_rope_theta/)
})
