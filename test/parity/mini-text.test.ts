/** Compares the text encoder with PyTorch part by part: `golden/text.*`. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadBert } from '../../models/mini/text/bert.ts'
import { TextEncoder, TOKENS_MAX } from '../../models/mini/text/text-encoder.ts'
import { TextTokenizer } from '../../models/text/tokenizer.ts'
import { keyBias } from '../../models/layers/layers.ts'
import { tf, type Tensor } from '../../models/tensorflow/tensor.ts'
import { Weights } from '../../models/checkpoint/weights.ts'
import { assertClose } from '../support/basics/assert-close.ts'
import { counted, goldenFile, openGolden, TEXT_ENCODER_FOLDER } from '../support/models/golden.ts'

const golden = openGolden('text.safetensors')
const { prompts, alone } = JSON.parse(readFileSync(goldenFile('text.json'), 'utf8')) as {
  prompts: string[]
  alone: Record<string, number[]>
}
const bert = loadBert(Weights.open(join(TEXT_ENCODER_FOLDER, 'model.safetensors')))
const encoder = await TextEncoder.load(TEXT_ENCODER_FOLDER)
const tokenizer = await TextTokenizer.load(TEXT_ENCODER_FOLDER, TOKENS_MAX)
const ids = golden.tensor('input_ids')
const valid = golden.tensor('attention_mask')
const padding = golden.values('attention_mask')

/** Leaves out padding tokens, whose values do not matter. */
const real = (values: Float32Array | Int32Array) =>
  Array.from(values).filter((_, i) => padding[Math.floor(i / 384)] === 1)

function assertTokens(actual: Tensor, name: string): void {
  assertClose(real(actual.dataSync<'float32'>()), real(golden.values(name)), { absolute: 2e-5 })
}

test('tokens equal those of the reference tokenizer', () => {
  for (const prompt of prompts) assert.deepEqual(tokenizer.tokens(prompt), alone[prompt])
})

/** Each part takes what the reference stored before it. */
const PARTS: Record<string, [name: string, run: () => Tensor]> = {
  embeddings: ['hidden_states.0', () => bert.embed(ids)],
  'first layer': [
    'hidden_states.1',
    () => bert.layers[0]!(golden.tensor('hidden_states.0'), keyBias(valid)),
  ],
  'other layers': [
    'last_hidden_state',
    () =>
      bert.layers
        .slice(1)
        .reduce((x, layer) => layer(x, keyBias(valid)), golden.tensor('hidden_states.1')),
  ],
}

for (const [part, [name, run]] of Object.entries(PARTS)) {
  test(`the ${part} agree`, () => {
    counted(
      () => tf.tidy(run),
      (x) => assertTokens(x, name),
    )
  })
}

test('the padded batch gives the embeddings', () => {
  const check = (embeddings: Tensor) =>
    assertClose(embeddings.dataSync<'float32'>(), golden.values('embedding'), { absolute: 1e-5 })
  counted(() => bert.forward(ids, valid), check)
})

test('each prompt alone gives its row of the batch', () => {
  for (const [row, prompt] of prompts.entries()) {
    const expected = golden.values('embedding').subarray(row * 384, (row + 1) * 384)
    const run = () =>
      tf.tidy(() => {
        const tokens = tf.tensor2d([tokenizer.tokens(prompt)], undefined, 'int32')
        return bert.forward(tokens, tf.onesLike(tokens).cast('float32'))
      })
    counted(run, (x) => assertClose(x.dataSync<'float32'>(), expected, { absolute: 1e-5 }))
  }
})

test('a cached prompt keeps its embedding and leaves no tensor behind', () => {
  const first = encoder.embed('A dog, barking!')
  const before = tf.memory().numTensors
  const second = encoder.embed(' a dog, barking ')
  assertClose(second.dataSync<'float32'>(), first.dataSync<'float32'>(), { absolute: 0 })
  second.dispose()
  assert.equal(tf.memory().numTensors, before)
  first.dispose()
})

test("a prompt longer than the encoder's maximum keeps its final token", () => {
  const tokens = tokenizer.tokens('rain '.repeat(400))
  assert.equal(tokens.length, 256)
  assert.equal(tokens.at(-1), tokenizer.tokens('rain').at(-1))
})
