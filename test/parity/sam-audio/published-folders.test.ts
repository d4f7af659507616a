/** Model folders as people have them: other spellings and files give the same network. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { loadJudge, readJudgeConfig } from '../../../models/sam-audio/judge/judge.ts'
import { encodeWaves } from '../../../models/sam-audio/codec/codec.ts'
import { dacConfig } from '../../../models/sam-audio/config.ts'
import { loadEncoder, TRANSFORMERS } from '../../../models/sam-audio/codec/encoder.ts'
import { readSpanPredictorConfig } from '../../../models/sam-audio/spans/span-predictor.ts'
import { loadTextEncoder } from '../../../models/sam-audio/text/text-encoder.ts'
import { loadSamAudio } from '../../../models/sam-audio/sam-audio.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { openTensors, Weights } from '../../../models/checkpoint/weights.ts'
import { writeSafetensors } from '../../../models/checkpoint/write-safetensors.ts'
import { takeInventory } from '../../../scripts/cli/model/inventory.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { noise } from '../../support/models/lanes.ts'
import { FIXTURES } from '../../support/models/tiny-sam-audio.ts'

const root = mkdtempSync(join(tmpdir(), 'published-'))
after(() => rmSync(root, { recursive: true }))

/** Copies a part of the fixtures; returns its folder. */
function copyOf(part: string, name: string): string {
  const folder = join(root, name, part)
  cpSync(join(FIXTURES, part), folder, { recursive: true })
  return folder
}

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

const PROMPTS = ['man speaking', 'a dog barking loudly in the distance']

async function statesOf(folder: string): Promise<Float32Array> {
  const { states } = (await loadTextEncoder(folder, 512)).encode(PROMPTS)
  return states.dataSync<'float32'>()
}

test('T5 without tokenizer_config.json takes its padding from config.json', async () => {
  const folder = copyOf('t5-tiny', 'bare')
  rmSync(join(folder, 'tokenizer_config.json'))
  assert.deepEqual(await statesOf(folder), await statesOf(join(FIXTURES, 't5-tiny')))
  const config = readJson(join(folder, 'config.json'))
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, pad_token_id: undefined }))
  await assert.rejects(loadTextEncoder(folder, 512), /no padding: pad_token .* or pad_token_id/)
})

test('weights in several files equal those in one', async () => {
  const folder = copyOf('t5-tiny', 'sharded')
  const whole = join(folder, 'model.safetensors')
  const tensors = [...openTensors(whole)]
  const shardOf = (i: number) => `model-0000${1 + (i % 2)}-of-00002.safetensors`
  for (const half of [0, 1]) {
    const part = new Map(tensors.filter((_, i) => i % 2 === half))
    await writeSafetensors(join(folder, shardOf(half)), part, 'float32')
  }
  rmSync(whole)
  const index = join(folder, 'model.safetensors.index.json')
  const map = Object.fromEntries(tensors.map(([name], i) => [name, shardOf(i)]))
  writeFileSync(index, JSON.stringify({ metadata: {}, weight_map: map }))
  assert.deepEqual(await statesOf(folder), await statesOf(join(FIXTURES, 't5-tiny')))
  const text = (await takeInventory(folder)).parts.find(({ part }) => part === 'text')!
  assert.deepEqual([text.problems, text.weights!.file], [[], index])
  writeFileSync(index, JSON.stringify({ weight_map: { shared: '../elsewhere.safetensors' } }))
  await assert.rejects(
    loadTextEncoder(folder, 512),
    /weight_map must name safetensors files in its folder/,
  )
})

test('pytorch_model.bin is read as a state dict', async () => {
  const folder = copyOf('judge-tiny', 'bin')
  cpSync(join(folder, 'checkpoint.pt'), join(folder, 'pytorch_model.bin'))
  rmSync(join(folder, 'checkpoint.pt'))
  const judge = (await takeInventory(folder)).parts.find(({ part }) => part === 'judge')!
  assert.deepEqual([judge.problems, judge.weights!.file], [[], join(folder, 'pytorch_model.bin')])
})

test('the base of rotary positions is read in either spelling, and required', async () => {
  const folder = copyOf('judge-tiny', 'rope')
  const file = join(folder, 'config.json')
  const before = await readJudgeConfig(file)
  const { text_model: text, transformer, ...config } = readJson(file)
  const { global_rope_theta: full, local_rope_theta: sliding, ...bare } = text
  const { rope_theta: theta, ...plain } = transformer
  const write = (textModel: object, audio: object) =>
    writeFileSync(file, JSON.stringify({ ...config, text_model: textModel, transformer: audio }))
  const parameters = {
    full_attention: { rope_theta: full },
    sliding_attention: { rope_theta: sliding },
  }
  write(
    { ...bare, rope_parameters: parameters },
    { ...plain, rope_parameters: { rope_theta: theta } },
  )
  assert.deepEqual(await readJudgeConfig(file), before)
  write(bare, transformer)
  await assert.rejects(
    readJudgeConfig(file),
    /global_rope_theta \(or rope_parameters\.full_attention\.rope_theta\) must be a positive number/,
  )
  write({ ...bare, global_rope_theta: full }, transformer)
  await assert.rejects(readJudgeConfig(file), /local_rope_theta \(or .*sliding_attention/)
  write(text, plain)
  await assert.rejects(
    readJudgeConfig(file),
    /config\.json: rope_theta \(or rope_parameters\.rope_theta\)/,
  )
  const spans = join(copyOf('pe-a-frame-tiny', 'rope'), 'config.json')
  writeFileSync(spans, JSON.stringify({ ...readJson(spans), text_model: bare }))
  await assert.rejects(readSpanPredictorConfig(spans), /global_rope_theta/)
})

/** Creates a judge folder in the spelling of transformers, with the span predictor's codec. */
async function transformersJudge(): Promise<string> {
  const folder = copyOf('judge-tiny', 'transformers')
  const judgeTensors = [...openTensors(join(folder, 'checkpoint.pt'))].filter(
    ([name]) => !name.startsWith('audio_codec.'),
  )
  const codec = [...openTensors(join(FIXTURES, 'pe-a-frame-tiny/model.safetensors'))]
    .filter(([name]) => name.startsWith('audio_model.dac_vae_encoder.'))
    .map(([name, tensor]) => [name.replace('audio_model.', ''), tensor] as const)
  const file = join(folder, 'model.safetensors')
  await writeSafetensors(file, new Map([...judgeTensors, ...codec]), 'float32')
  rmSync(join(folder, 'checkpoint.pt'))
  const { audio_codec: _, ...config } = readJson(join(folder, 'config.json'))
  const spans = readJson(join(FIXTURES, 'pe-a-frame-tiny/config.json'))
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({
      ...config,
      model_type: 'sam_audio_judge',
      dac_vae_encoder: spans.audio_model.dac_vae_encoder,
    }),
  )
  return folder
}

test('the codec in the spelling of transformers gives what the reference gave', () =>
  tf.tidy(() => {
    const part = join(FIXTURES, 'pe-a-frame-tiny')
    const config = dacConfig(readJson(join(part, 'config.json')).audio_model.dac_vae_encoder)
    const weights = Weights.open(join(part, 'model.safetensors')).at('audio_model.dac_vae_encoder')
    const golden = openTensors(join(FIXTURES, 'golden/span_predictor.safetensors'))
    const {
      shape: [batch, , samples],
      values,
    } = golden.get('waveform')!
    const all = Float32Array.from(values())
    const waves = Array.from({ length: batch! }, (_, i) =>
      all.slice(i * samples!, (i + 1) * samples!),
    )
    const { features } = encodeWaves(loadEncoder(weights, config, TRANSFORMERS), config, waves)
    const ours = tf.transpose(features, [0, 2, 1])
    const theirs = golden.get('dac_vae_encoder.features')!
    assert.deepEqual(ours.shape, theirs.shape)
    assertClose(ours.dataSync<'float32'>(), theirs.values(), { absolute: 6e-5 })
  }))

test('a judge in the spelling of transformers is found without problems, and judges', async () => {
  const folder = await transformersJudge()
  const { parts, warnings } = await takeInventory(folder)
  const judge = parts.find(({ part }) => part === 'judge')!
  assert.deepEqual([judge.folder, judge.problems, warnings.length], [folder, [], 0])
  const verdict = { mixture: noise(960, 1), separated: noise(960, 2), prompt: 'rain' }
  const [scores] = (await loadJudge(folder)).judge([verdict])
  assert.ok(Object.values(scores!).every(Number.isFinite))
})

test('a folder that looks like a part but is not used gives a warning that says why', async () => {
  for (const part of ['sam-audio-tiny', 't5-tiny', 'judge-tiny']) copyOf(part, 'unused')
  const file = join(root, 'unused/judge-tiny/config.json')
  writeFileSync(file, JSON.stringify({ audio_config: {}, text_config: {} }))
  const { warnings } = await loadSamAudio(join(root, 'unused'))
  assert.equal(warnings.length, 1)
  assert.match(
    warnings[0]!,
    /judge-tiny seems to be the judge part .* not used: .*audio_config, text_config/,
  )
  rmSync(file)
  assert.match(
    (await takeInventory(join(root, 'unused'))).warnings.join(),
    /no config\.json that can be read/,
  )
  assert.deepEqual((await loadSamAudio(FIXTURES)).warnings, [])
})
