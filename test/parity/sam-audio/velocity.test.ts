/** One evaluation of the flow network against the reference: `golden/dit_forward.safetensors`. */
import { test } from 'node:test'
import fc from 'fast-check'
import { keyBias, rmsNormalize } from '../../../models/layers.ts'
import { readConfig } from '../../../models/sam-audio/config.ts'
import { disposeRowMask, rowMask, type RowMask } from '../../../models/sam-audio/row-mask.ts'
import { disposeTimeCodes, tabulated } from '../../../models/sam-audio/time-codes.ts'
import { loadVelocity } from '../../../models/sam-audio/velocity.ts'
import { tf, type Tensor } from '../../../models/tensor.ts'
import { Weights } from '../../../models/weights.ts'
import { assertClose } from '../../support/assert-close.ts'
import { counted } from '../golden.ts'
import { noise } from '../lanes.ts'
import { CHECKPOINT, CONFIG, openGolden } from './golden.ts'

const golden = openGolden('dit_forward.safetensors')
const config = await readConfig(CONFIG)
const { dim, heads, layers } = config.transformer
const { codebookDim } = config.codec
const network = loadVelocity(Weights.open(CHECKPOINT), config)
const { conditions, transformer } = network
const [batch, longest] = golden.shape('audio_pad_mask') as [number, number]

/** Real frames of the reference's two rows. */
const rows = Array.from({ length: batch }, (_, i) =>
  Array.from(golden.values('audio_pad_mask').subarray(i * longest, (i + 1) * longest))
    .reduce((sum, valid) => sum + valid, 0))

/** The reference concatenates the features with themselves. */
const features = () => tf.slice(golden.tensor('audio_features'), [0, 0, 0], [-1, -1, codebookDim])

/** Of every frame: its place in the list of ids, and the id there. */
function anchorTokens(): Tensor {
  const ids = golden.values('anchor_ids')
  const width = golden.shape('anchor_ids')[1]!
  const tokens = Int32Array.from(golden.values('anchor_alignment'), (place, i) =>
    ids[Math.floor(i / longest) * width + place]!)
  return tf.tensor2d(tokens, [batch, longest], 'int32')
}

/** What the reference masks: keys, but neither the patcher's norm nor its convolutions. */
function referenceMask(): RowMask {
  const mask = rowMask(rows, longest)!
  const valid = tf.onesLike(mask.valid)
  const counts = tf.onesLike(mask.counts).mul(longest)
  return { valid, counts, keys: mask.keys }
}

interface Variant {
  time?: 'time' | 'time2'
  video?: 'none' | 'absent' | 'given'
  anchors?: boolean
  text?: boolean
  masks?: boolean
}

/** One evaluation as the reference makes it; the caller frees the result. */
function velocity(variant: Variant = {}): Tensor {
  const { time = 'time', video = 'absent', anchors = true, text = true, masks = true } = variant
  return tf.tidy(() => {
    const shares = [
      conditions.audio(features()),
      ...(video === 'absent' ? [conditions.video.absent] : []),
      ...(video === 'given' ? [conditions.video.aligned(golden.turned('video_features'))] : []),
      ...(anchors ? [conditions.anchors(anchorTokens())] : []),
    ]
    const memory = text
      ? conditions.memory(golden.tensor('text_features')) : tf.zeros([batch, 1, dim])
    return network.forward(
      golden.tensor('noisy_audio'), transformer.tellTime(Array.from(golden.values(time))), {
        base: shares.reduce((sum, share) => sum.add(share)),
        memory,
        frames: masks ? referenceMask() : null,
        textKeys: text && masks ? keyBias(golden.tensor('text_mask')) : null,
      })
  })
}

const variants: [name: string, variant: Variant][] = [
  ['velocity', {}],
  ['velocity_time2', { time: 'time2' }],
  ['velocity_video', { video: 'given' }],
  ['velocity_plain', { video: 'none', anchors: false, masks: false }],
  ['velocity_no_text', { text: false, video: 'none', anchors: false, masks: false }],
]

for (const [name, variant] of variants) {
  test(`${name} agrees, padding leaking as it does there`, () => {
    counted(() => velocity(variant), (x) => golden.assertEqual(x, name))
  })
}

test('with padding masked, the longest row stays what it was, and is what it is alone', () => {
  counted(() => masked(), (x) => {
    const first = tf.tidy(() => tf.slice(x, [0, 0, 0], [1, -1, -1]))
    golden.assertEqual(first, 'velocity_item0_alone')
    const expected = golden.values('velocity').slice(0, longest * 2 * codebookDim)
    assertClose(first.dataSync<'float32'>(), expected, { absolute: golden.tolerance('velocity') })
    first.dispose()
  })
})

const masked = (): Tensor => tf.tidy(() => network.forward(
  golden.tensor('noisy_audio'), transformer.tellTime(Array.from(golden.values('time'))), {
    base: conditions.audio(features()).add(conditions.video.absent)
      .add(conditions.anchors(anchorTokens())),
    memory: conditions.memory(golden.tensor('text_features')),
    frames: rowMask(rows, longest),
    textKeys: keyBias(golden.tensor('text_mask')),
  }))

function checkPart(part: () => Tensor, name: string): void {
  counted(() => tf.tidy(part), (x) => golden.assertEqual(x, name))
}

test('every share of the input agrees', () => {
  const noisy = () => conditions.noisy(golden.tensor('noisy_audio'))
  checkPart(() => noisy().add(conditions.audio(features())), 'proj')
  checkPart(() => golden.tensor('proj').add(conditions.video.absent), 'align_masked_video')
  checkPart(() => golden.tensor('align_masked_video').add(conditions.anchors(anchorTokens())),
    'embed_anchors')
  checkPart(() => conditions.memory(golden.tensor('text_features')), 'memory_proj')
})

test('time codes agree, told one by one and from a table', () => {
  const times = Array.from(golden.values('time'))
  for (const tell of [transformer.tellTime, tabulated(transformer.tellTime, [0.5, ...times.slice(1), 1])]) {
    checkPart(() => tell(times).final, 't_embedder')
    checkPart(() => tell(times).blocks, 't_block')
    checkPart(() => tell(times).memory, 'timestep_emb')
  }
})

test('every part of the transformer agrees', () => {
  const { patcher, blocks } = transformer
  const first = () => patcher.blocks[0]!(golden.tensor('embed_anchors'), null)
  counted(() => tf.tidy(first), (x) => golden.assertTurned(x, 'x_embedder.block1'))
  counted(() => tf.tidy(() => patcher.blocks[1]!(golden.turned('x_embedder.block1'), null)),
    (x) => golden.assertTurned(x, 'x_embedder.block2'))
  counted(() => tf.tidy(() => patcher.forward(golden.tensor('embed_anchors'), null)),
    (x) => golden.assertTurned(x, 'x_embedder'))
  const memory = () => golden.tensor('memory_proj').add(golden.tensor('timestep_emb').expandDims(1))
  checkPart(() => transformer.embedMemory(memory()), 'y_embedder')
  const around = () => ({
    rotary: transformer.rotaryOf(longest),
    frameKeys: referenceMask().keys, textKeys: keyBias(golden.tensor('text_mask')),
  })
  const time = () => golden.tensor('t_block').reshape([batch, 6, dim])
  for (let i = 0; i < layers; i += 1) {
    const input = () => (i === 0 ? golden.turned('x_embedder') : golden.tensor(`layers.${i - 1}`))
    checkPart(() => {
      const memories = transformer.crossMemories(golden.tensor('y_embedder'))
      return blocks[i]!.forward(input(), time(), memories[i]!, around())
    }, `layers.${i}`)
  }
  checkPart(() => rmsNormalize(golden.tensor(`layers.${layers - 1}`)).mul(transformer.finalGain), 'norm')
})

test('queries and keys agree after norm and rotation, their pairs put back side by side', () => {
  const block = transformer.blocks[0]!
  const scale = tf.tensor5d([Math.sqrt(dim / heads), 1], [2, 1, 1, 1, 1])
  const queriesAndKeys = (which: 0 | 1) => {
    const heard = modulatedInput()
    const { qk } = block.attention.project(heard, transformer.rotaryOf(longest))
    const halves = tf.slice(qk.mul(scale), [which], [1]) // [1, batch, heads, frames, width]
    return tf.transpose(halves.reshape([batch, heads, longest, 2, -1]), [0, 1, 2, 4, 3])
      .reshape([batch, heads, longest, dim / heads])
  }
  checkPart(() => queriesAndKeys(0), 'layers.0.attention.q_rope')
  checkPart(() => queriesAndKeys(1), 'layers.0.attention.k_rope')
  checkPart(() => block.attention.forward(
    modulatedInput(), transformer.rotaryOf(longest), referenceMask().keys), 'layers.0.attention')
  scale.dispose()
})

/** What the first attention hears: the reference's norm, shifted and scaled by the time. */
function modulatedInput(): Tensor {
  const table = Weights.open(CHECKPOINT).at('transformer').at('layers').at(0)
    .get('scale_shift_table', [6, dim])
  const six = golden.tensor('t_block').reshape([batch, 6, dim]).add(table)
  const [shift, scale] = tf.split(six, 6, 1) as [Tensor, Tensor]
  return golden.tensor('layers.0.attention_norm').mul(scale.add(1)).add(shift)
}

interface Row {
  frames: number
  words: number
  time: number
  anchor: number
  seed: number
}

/** Rows of any lengths, times, texts and anchors, padded to the longest. */
function evaluate(batchRows: readonly Row[]): Float32Array[] {
  const most = Math.max(...batchRows.map(({ frames }) => frames))
  const mostWords = Math.max(...batchRows.map(({ words }) => words))
  const filled = (width: number, length: (row: Row) => number, to: number, salt: number) =>
    tf.concat(batchRows.map((row) => {
      const numbers = noise(length(row) * width, row.seed + salt, 2)
      return tf.pad(tf.tensor3d(numbers, [1, length(row), width]), [[0, 0], [0, to - length(row)], [0, 0]])
    }))
  const mask = rowMask(batchRows.map(({ frames }) => frames), most)
  const time = transformer.tellTime(batchRows.map((row) => row.time))
  const answer = tf.tidy(() => {
    const tokens = tf.tensor2d(batchRows.flatMap(({ frames, anchor }) =>
      Array.from({ length: most }, (_, i) => (i < frames / 2 ? anchor : 0))), [batchRows.length, most], 'int32')
    const valid = tf.tensor2d(batchRows.flatMap(({ words }) =>
      Array.from({ length: mostWords }, (_, i) => (i < words ? 1 : 0))), [batchRows.length, mostWords])
    return network.forward(filled(2 * codebookDim, (row) => row.frames, most, 1), time, {
      base: conditions.audio(filled(codebookDim, (row) => row.frames, most, 2))
        .add(conditions.anchors(tokens)),
      memory: conditions.memory(filled(config.textDim, (row) => row.words, mostWords, 3)),
      frames: mask, textKeys: keyBias(valid),
    })
  })
  const flat = answer.dataSync<'float32'>()
  answer.dispose()
  disposeRowMask(mask)
  disposeTimeCodes(time)
  const width = 2 * codebookDim
  return batchRows.map(({ frames }, i) => flat.slice(i * most * width, (i * most + frames) * width))
}

test('a row gives the same alone, padded and in any company, whatever its time', () => {
  const row = fc.record({
    frames: fc.integer({ min: 1, max: 60 }),
    words: fc.integer({ min: 1, max: 9 }),
    time: fc.integer({ min: 0, max: 64 }).map((step) => step / 64),
    anchor: fc.integer({ min: 0, max: config.anchors - 1 }),
    seed: fc.nat(),
  })
  fc.assert(fc.property(fc.array(row, { minLength: 2, maxLength: 5 }), (batchRows) => {
    const before = tf.memory().numTensors
    const together = evaluate(batchRows)
    for (const [i, each] of batchRows.entries()) {
      assertClose(together[i]!, evaluate([each])[0]!, { absolute: 1e-5 })
    }
    assertClose([tf.memory().numTensors], [before], { absolute: 0 })
  }), { numRuns: 25 })
})
