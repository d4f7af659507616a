/** Compares the tagger with PyTorch part by part, with few channels and seeded weights. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ChunkOrder } from '../../engine/compute/compute-messages.ts'
import { TagPass } from '../../engine/job/findings/tag-pass.ts'
import type { Tags } from '../../engine/job/findings/tagged-file.ts'
import { ResamplingThreads } from '../../engine/media/resampling-threads.ts'
import { openSafetensors } from '../../models/checkpoint/safetensors.ts'
import { Weights } from '../../models/checkpoint/weights.ts'
import { WARM_UP_CALLS } from '../../models/graph/graph-cache.ts'
import type { Chunk } from '../../models/model.ts'
import { logMel, melPower } from '../../models/tagger/features.ts'
import { edgeSamples, melFraming, melMatrix, paddedSamples } from '../../models/tagger/mel.ts'
import { loadTaggerNetwork, runTagger } from '../../models/tagger/network.ts'
import { loadTagger } from '../../models/tagger/tagger.ts'
import { tf, upload, type Tensor } from '../../models/tensorflow/tensor.ts'
import { assertClose } from '../support/basics/assert-close.ts'
import { chirp, noise } from '../support/media/signals.ts'
import { assertStream, counted } from '../support/models/golden.ts'
import { GoldenFile } from '../support/parity/golden-file.ts'

const folderOf = (name: string) =>
  fileURLToPath(new URL(`../fixtures/parity/tagger/${name}`, import.meta.url))
const file = folderOf('tiny.safetensors')
const golden = new GoldenFile(file, 'tiny.safetensors')
const values = (name: string) => golden.values(name) as Float32Array

const ROOT = 'weights.'
const weights = Weights.of(
  file,
  new Map(
    [...openSafetensors(file)]
      .filter(([name]) => name.startsWith(ROOT))
      .map(([name, one]) => [name.slice(ROOT.length), one]),
  ),
)
const sizes = { classes: 5, widths: [4, 4, 8, 8, 8], hidden: 8, temporal: 2 }
const network = loadTaggerNetwork(weights, sizes)
weights.assertAllRead()

const tagger = await loadTagger()
const resampling = new ResamplingThreads()
after(() => resampling.stop())
const RATE = 8_000
const HEAD = { prompt: '', seed: 0 }
const NOTHING = { spans: [], acceleration: 'fast' } as const

const framing = melFraming(32_000)
const STEPS = 4

test('the mel bands equal those of the reference', () => {
  assertClose(melMatrix(framing), values('mel_matrix'), { absolute: 1e-6 })
})

test('mel power and its logarithm agree', () => {
  const padded = new Float32Array(paddedSamples(framing, STEPS))
  padded.set(values('wave'), edgeSamples(framing))
  const wave = () => upload(padded, [1, padded.length])
  const power = () => tf.tidy(() => melPower(wave(), framing))
  power().dispose() // caches the window
  assertPart(power, 'mel_power')
  assertPart(() => logMel(golden.tensor('mel_power')), 'log_mel')
})

const assertPart = (run: () => Tensor, name: string): void =>
  counted(
    () => tf.tidy(run),
    (x) => assertStream(x, values(name)),
  )

const { halvings, blocks, steps } = network
type Part = [name: string, input: string, run: (x: Tensor) => Tensor]
const parts: Part[] = [
  ...halvings
    .slice(1)
    .map((run, i): Part => [`halving.${i + 1}`, i === 0 ? 'halving.0' : `block.${i - 1}`, run]),
  ...blocks.map((run, i): Part => [`block.${i}`, `halving.${i + 1}`, run]),
  ['gather', `block.${blocks.length - 1}`, network.gather],
  ...steps.map((run, i): Part => [`steps.${i}`, i === 0 ? 'gather' : `steps.${i - 1}`, run]),
  ['logits', `steps.${steps.length - 1}`, network.classify],
]

for (const [name, input, run] of parts) {
  test(`${name} agrees`, () => assertPart(() => run(golden.tensor(input)), name))
}

test('the whole network agrees', () => {
  assertPart(() => runTagger(network)(golden.tensor('log_mel')), 'logits')
})

test('the served weights agree, whatever a lane shares its batch with', () => {
  const lane = openSafetensors(folderOf('lane.safetensors'))
  const wave = Float32Array.from(lane.get('wave')!.values())
  const open = (samples: Float32Array) =>
    tagger.open({ chunk: { channels: [samples], sampleRate: 32_000 }, ...NOTHING }, [HEAD])[0]!
  for (let call = 0; call <= WARM_UP_CALLS; call += 1) {
    const lanes = [open(wave), open(wave.slice(0, 100_000)), open(wave.map((x) => x / 2))]
    tagger.step(lanes)
    const [first, short] = lanes.map((one) => tagger.close(one)[0]!.tags!)
    assertClose(first!, lane.get('logits')!.values(), { absolute: 2e-3 })
    assert.equal(short!.length, 7 * tagger.config.classes.names.length)
  }
})

test('a file pushed in blocks gets the same tags as a whole one', async () => {
  const samples = Math.round(205.3 * RATE)
  const waves = [noise(samples / RATE, RATE), chirp(samples / RATE, RATE)]
  const whole = tagsOf({ channels: waves, sampleRate: RATE })
  const { logits, seconds } = await tagInBlocks(waves, RATE)
  assertClose(logits, whole, { absolute: 1e-3 })
  assert.equal(seconds, samples / RATE)
})

test('a file of the highest rate is tagged as at 48 kHz, and takes no more memory', async () => {
  const [rate, seconds] = [768_000, 2.5]
  const expected = tagsOf({ channels: [chirp(seconds, 48_000)], sampleRate: 48_000 })
  const tags = await tagInBlocks([chirp(seconds, rate)], rate, (chunk) => {
    assert.ok(chunk.channels[0]!.length <= 48_000 * seconds, `${chunk.channels[0]!.length} samples`)
  })
  assertClose(tags.logits, expected, { absolute: 0.15 })
  assert.deepEqual([tags.seconds, tags.stepSeconds], [seconds, 0.5])
})

test('a file so short that resampling leaves nothing is silence', async () => {
  const { logits } = await tagInBlocks([noise(0.001, 768_000)], 768_000)
  assert.deepEqual(logits, tagsOf({ channels: [new Float32Array(1)], sampleRate: 48_000 }))
})

/** Takes a whole file as one piece. */
function tagsOf(chunk: Chunk): Float32Array {
  const [lane] = tagger.open({ chunk, ...NOTHING }, [HEAD])
  tagger.step([lane!])
  return tagger.close(lane!)[0]!.tags!
}

async function tagInBlocks(
  waves: readonly Float32Array[],
  rate: number,
  onPiece: (chunk: Chunk) => void = () => undefined,
): Promise<Tags> {
  const separate = async ({ request: { chunk } }: ChunkOrder) => {
    onPiece(chunk)
    return [{ target: [], score: 0, tags: tagsOf(chunk) }]
  }
  const pass = new TagPass({ accountId: 'a', requestId: 'r' }, rate, {
    scheduler: { separate },
    resampling,
    tagger: tagger.config,
    signal: new AbortController().signal,
    onFailed: assert.ifError,
  })
  for (let start = 0; start < waves[0]!.length; start += 10_007) {
    await pass.push(waves.map((wave) => wave.slice(start, start + 10_007)))
  }
  const tags = await pass.finish()
  await pass.close()
  return tags
}
