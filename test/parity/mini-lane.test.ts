/** The built-in model as an engine uses it: lanes, batches, rates, spans, odd chunks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  openLane,
  closeLane,
  type Acceleration,
  type Chunk,
  type HeadResult,
  type LaneRequest,
} from '../../models/model.ts'
import { highPass } from '../../models/mini/high-pass.ts'
import { GRAPH_NAME } from '../../models/graph/recorder.ts'
import { loadMini } from '../../models/mini/mini.ts'
import { planBatch } from '../../models/mini/batch-plan.ts'
import type { MiniLane } from '../../models/mini/mini-lane.ts'
import { spanGain } from '../../models/lanes/span-gain.ts'
import { native, tf } from '../../models/tensorflow/tensor.ts'
import { assertClose } from '../support/basics/assert-close.ts'
import { examplePath, readWav16 } from '../support/media/examples.ts'
import { fc } from '../support/basics/property.ts'
import { openGolden, TEXT_ENCODER_FOLDER } from '../support/models/golden.ts'
import {
  laneRequest,
  noise,
  notes,
  PROMPTS,
  separate,
  separateOne,
} from '../support/models/lanes.ts'

const mini = await loadMini({ textEncoderFolder: TEXT_ENCODER_FOLDER })
/** Groups lanes of one shape, as on a GPU. */
const miniTogether = await loadMini({ textEncoderFolder: TEXT_ENCODER_FOLDER, together: true })
const wave = notes(45_000)

const mono = (samples: Float32Array, sampleRate = 32_000): Chunk => ({
  channels: [samples],
  sampleRate,
})

function assertSound({ target }: { target: Float32Array[] }, { channels }: Chunk): void {
  for (const [i, mixture] of channels.entries()) {
    assert(target[i]!.every(Number.isFinite), 'the target holds numbers')
    assert.equal(target[i]!.length, mixture.length)
  }
  assert.equal(target.length, channels.length)
}

/** Returns one second of a sine wave. */
const sine = (hertz: number, rate: number) =>
  Float32Array.from({ length: rate }, (_, i) => Math.sin((2 * Math.PI * hertz * i) / rate))

const power = (samples: Float32Array) =>
  samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length

test('a lane at 32 kHz matches the reference, with an offset and rumble', () => {
  const lane = openGolden('lane.safetensors')
  const chunk = mono(lane.values('waveform') as Float32Array)
  const { target, match } = separateOne(mini, laneRequest(chunk, 'Piano.'))
  assertClose(target[0]!, lane.values('target'), { absolute: 2e-5 })
  assertClose([match!], lane.values('match'), { absolute: 1e-4 })
})

test("a lane's result does not depend on the lanes that share its batches", () => {
  const lane = fc.record({
    seconds: fc.double({ min: 0.02, max: 1.5, noNaN: true }),
    sampleRate: fc.constantFrom(16_000, 32_000, 44_100),
    channels: fc.integer({ min: 1, max: 2 }),
    prompt: fc.constantFrom(...PROMPTS),
    acceleration: fc.constantFrom<Acceleration>('fast', 'balanced', 'quality'),
    seed: fc.nat(),
  })
  const toRequest = ({ seconds, sampleRate, channels, prompt, acceleration, seed }: Lane) => {
    const samples = Math.ceil(seconds * sampleRate)
    const waves = Array.from({ length: channels }, (_, i) => noise(samples, seed + i))
    return laneRequest({ channels: waves, sampleRate }, prompt, acceleration)
  }
  type Lane = typeof lane extends fc.Arbitrary<infer T> ? T : never
  const batches = fc.array(lane, { minLength: 2, maxLength: 5 })
  fc.assert(
    fc.property(batches, (lanes) => assertSameAlone(lanes.map(toRequest))),
    { numRuns: 8 },
  )
})

function assertSameAlone(requests: readonly LaneRequest[]): void {
  for (const [i, together] of separate(mini, requests).entries()) {
    const alone = separateOne(mini, requests[i]!)
    for (const [channel, target] of alone.target.entries()) {
      assertClose(together.target[channel]!, target, { absolute: 1e-5 })
    }
  }
}

test('lanes of one shape are computed together, with the same results as alone', () => {
  for (const [channels, acceleration] of [
    [1, 'balanced'],
    [2, 'quality'],
  ] as const) {
    const request = (seconds: number, seed: number): LaneRequest => {
      const waves = [0, 1].map((i) => noise(Math.round(44_100 * seconds), 2 * seed + i))
      const chunk = { channels: waves.slice(0, channels), sampleRate: 44_100 }
      return laneRequest(chunk, PROMPTS[seed % PROMPTS.length], acceleration)
    }
    // All of them use the bucket of the longest.
    const lengths = [0.8, 0.95, 1.3, 0.7]
    const requests = lengths.map(request)
    const run = () => separate(miniTogether, requests)
    const alone = requests.map((lane) => separateOne(mini, lane))
    for (const results of [run(), run()]) {
      for (const [i, { target, match }] of results.entries()) {
        assertClose([match!], [alone[i]!.match!], { absolute: 1e-4 })
        for (const [c, wave] of target.entries()) {
          assertClose(wave, alone[i]!.target[c]!, { absolute: 1e-5 })
        }
      }
    }
    const before = tf.memory().numTensors
    run()
    assert.equal(tf.memory().numTensors, before)
  }
})

test('lanes leave no tensor behind, closed or discarded at any step', () => {
  const requests = (['fast', 'quality'] as const).map((acceleration) =>
    laneRequest(mono(noise(20_000, 3)), 'rain', acceleration),
  )
  separate(mini, requests) // from here on the prompt is cached
  const before = tf.memory().numTensors
  separate(mini, requests)
  assert.equal(tf.memory().numTensors, before)
  for (const steps of [0, 1, 2]) {
    const lane = openLane(mini, requests[1]!)
    for (let i = 0; i < steps; i += 1) mini.step([lane])
    mini.discard(lane)
    assert.equal(tf.memory().numTensors, before)
  }
})

test('a lane takes the steps, and has the frames, that it announces', () => {
  const request = laneRequest(mono(noise(32_000, 1)), 'rain', 'quality')
  const lane = openLane(mini, request)
  assert.equal(lane.steps, 3)
  const shortest = mini.description.framesPerSecond / (7 / 8) // the pass with the shortest frames has the most
  assert(Math.abs(lane.frames - shortest) <= 2)
  assert.throws(() => closeLane(mini, lane), /0 of 3 steps/)
  for (let i = 0; i < 3; i += 1) mini.step([lane])
  assert.equal(lane.stepsDone, 3)
  assert.throws(() => mini.step([lane]), /steps are done/)
  assertSound(closeLane(mini, lane), request.chunk)
})

test('quality is the mean of separations as if at different sample rates', () => {
  // Filtered below 160 Hz, so the model's own 20 Hz high-pass, which scales with the rate, changes little.
  const [samples] = highPass(mono(wave, 4_000)).channels
  const passes = [1, 7 / 8, 9 / 8].map((pass) =>
    separateOne(mini, laneRequest(mono(samples!, 32_000 * pass), 'piano', 'fast')),
  )
  const { target, match } = separateOne(mini, laneRequest(mono(samples!), 'piano', 'quality'))
  assert.ok(match! > 0.4 && passes.every((pass) => pass.match! > 0.4), 'all of it is let through')
  assert.ok(match! <= 1, `a match of ${match}`)
  const mean = samples!.map((_, i) => passes.reduce((sum, one) => sum + one.target[0]![i]! / 3, 0))
  assertClose(target[0]!, mean, { absolute: 1e-4 })
  const distance = (one: Float32Array) => power(mean.map((sample, i) => sample - one[i]!))
  const apart = distance(passes[0]!.target[0]!)
  assert.ok(apart > 1e-5 * power(mean), 'the passes differ')
  assert.ok(distance(target[0]!) < 1e-2 * apart, `${distance(target[0]!) / apart}`)
})

test('quality recognizes a sound as balanced does, and is no softer', async () => {
  const examples = [
    ['siren-and-speech', 'siren'],
    ['speech-over-piano', 'flute'],
  ] as const
  for (const [name, prompt] of examples) {
    const [samples] = await readWav16(examplePath(`${name}.wav`))
    const chunk = mono(samples!, 44_100)
    const [balanced, quality] = (['balanced', 'quality'] as const).map((acceleration) =>
      separateOne(mini, { ...laneRequest(chunk, prompt, acceleration), predictSpans: true }),
    )
    assert.equal(quality!.match, balanced!.match, prompt)
    assert.equal(quality!.presenceGain, balanced!.presenceGain, prompt)
    assert.deepEqual(quality!.predictedSpans, balanced!.predictedSpans, prompt)
  }
})

test('every rate and length gives finite targets of as many samples', () => {
  for (const sampleRate of [8000, 11_025, 22_050, 44_100, 48_000, 96_000, 192_000]) {
    for (const samples of [1, 2, 100, Math.round(sampleRate * 0.3)]) {
      const chunk = mono(noise(samples, samples), sampleRate)
      const acceleration = samples > 100 ? 'fast' : 'quality'
      assertSound(separateOne(mini, laneRequest(chunk, 'piano', acceleration)), chunk)
    }
  }
})

test('silence stays silent, and so does a constant offset', () => {
  for (const offset of [0, 0.1]) {
    const chunk = mono(new Float32Array(50_000).fill(offset), 48_000)
    const separation = separateOne(mini, laneRequest(chunk, '', 'quality'))
    assertSound(separation, chunk)
    assert(separation.target[0]!.every((sample) => sample === 0))
  }
})

test('an offset and rumble change neither target nor match', async () => {
  const [left] = await readWav16(examplePath('drums-and-flute.wav'))
  const samples = left!.subarray(0, 150_000)
  const separated = (...changes: ((sample: number, i: number) => number)[]) => {
    const channels = changes.map((change) => samples.map(change))
    return separateOne(mini, laneRequest({ channels, sampleRate: 44_100 }, 'flute'))
  }
  const plain = separated((sample) => sample)
  const lifted = separated(
    (sample) => sample + 0.1,
    (sample) => sample - 0.2,
  )
  assert.ok(fidelity(lifted, plain) > 80, `${fidelity(lifted, plain)} dB, offset`)
  assertClose([lifted.match!], [plain.match!], { absolute: 1e-4 })
  const rumble = (i: number) => Math.sin((2 * Math.PI * 10 * i) / 44_100 + 1) / 10
  const rumbling = separated((sample, i) => sample + rumble(i))
  assert.ok(fidelity(rumbling, plain) > 35, `${fidelity(rumbling, plain)} dB, rumble`)
  assertClose([rumbling.match!], [plain.match!], { absolute: 2e-3 })
})

/** Returns in dB how far the error lies below the expected target, for the first channels. */
function fidelity(actual: HeadResult, expected: HeadResult): number {
  const [wave, other] = [expected.target[0]!, actual.target[0]!]
  return 10 * Math.log10(power(wave) / power(wave.map((sample, i) => sample - other[i]!)))
}

test('two channels at 32 kHz match the reference', () => {
  const stereo = openGolden('stereo.safetensors')
  const read = (name: string) => {
    const both = stereo.values(name) as Float32Array
    return [both.subarray(0, both.length / 2), both.subarray(both.length / 2)]
  }
  const chunk = { channels: read('waveform'), sampleRate: 32_000 }
  const separation = separateOne(mini, laneRequest(chunk))
  assertSound(separation, chunk)
  const expected = read('target')
  for (const channel of [0, 1]) {
    assertClose(separation.target[channel]!, expected[channel]!, { absolute: 2e-5 })
  }
  assertClose([separation.match!], stereo.values('match'), { absolute: 1e-4 })
})

test('channels with the same sound share a mask, even if they cancel each other', () => {
  const [alone] = separateOne(mini, laneRequest(mono(wave))).target
  for (const share of [1, 0.5, 0, -1]) {
    const chunk = { channels: [wave, wave.map((sample) => share * sample)], sampleRate: 32_000 }
    const { target } = separateOne(mini, laneRequest(chunk))
    const expected = alone!.map((sample) => share * sample)
    assertClose(target[0]!, alone!, { absolute: 2e-4 })
    assertClose(target[1]!, expected, { absolute: 2e-4 })
  }
})

test('three channels share the mask of their mean', () => {
  const chunk = { channels: [wave, wave, wave], sampleRate: 32_000 }
  const [alone] = separateOne(mini, laneRequest(mono(wave))).target
  for (const channel of separateOne(mini, laneRequest(chunk)).target) {
    assertClose(channel, alone!, { absolute: 1e-5 })
  }
})

test('a sound that is only in the difference of two channels is found', () => {
  const other = noise(wave.length, 4, 0.1)
  const channels = [
    wave.map((sample, i) => sample + other[i]!),
    wave.map((sample, i) => other[i]! - sample),
  ]
  const { target } = separateOne(mini, laneRequest({ channels, sampleRate: 32_000 }))
  const error = target[0]!.map((sample, i) => sample - wave[i]!)
  const gain = 10 * Math.log10(power(other) / power(error))
  assert.ok(gain > 6, `${gain} dB better than the mixture`)
})

test('a tone above 16 kHz does not change what is separated below', () => {
  const rate = 48_000
  const low = noise(rate, 5).map((_, i, all) => (all[i]! + (all[i - 1] ?? 0)) / 2)
  const tone = sine(20_000, rate)
  const high = low.map((sample, i) => sample + 0.5 * tone[i]!)
  const plain = separateOne(mini, laneRequest(mono(low, rate), 'rain')).target[0]!
  const hissing = separateOne(mini, laneRequest(mono(high, rate), 'rain')).target[0]!
  const energy = (samples: Float32Array) =>
    tf.tidy(() => {
      const below = tf.spectral.rfft(tf.tensor1d(samples.slice(0, 32_768))).slice(0, 10_000)
      return Math.sqrt(tf.real(below).square().add(tf.imag(below).square()).sum().dataSync()[0]!)
    })
  const difference = plain.map((sample, i) => sample - hissing[i]!)
  assert(energy(difference) < 0.03 * energy(plain))
})

test('a target above 16 kHz follows the last band', () => {
  const rate = 48_000
  const tone = sine(20_000, rate)
  const mixture = noise(rate, 9).map((sample, i) => sample + 0.2 * tone[i]!)
  const { target } = separateOne(mini, laneRequest(mono(mixture, rate), 'rain'))
  const toneIn = (wave: Float32Array) =>
    wave.reduce((sum, sample, i) => sum + sample * tone[i]!, 0) / (rate / 2)
  const [kept, whole] = [toneIn(target[0]!), toneIn(mixture)]
  assert(kept > 0 && kept < whole + 1e-5, `the tone keeps ${kept} of ${whole}`)
})

test('spans silence the target and leave the mixture whole', () => {
  const chunk = mono(wave)
  const spans = [{ start: 0.5, end: 1, include: false }]
  const separation = separateOne(mini, { ...laneRequest(chunk), spans })
  assertSound(separation, chunk)
  const [target] = separation.target
  assert.equal(power(target!.subarray(16_000, 32_000)), 0)
  assert(power(target!.subarray(0, 15_000)) > 0, 'it sounds elsewhere')
  const only = [{ start: 0.5, end: 1, include: true }]
  const included = separateOne(mini, { ...laneRequest(chunk), spans: only }).target[0]!
  assert.equal(power(included.subarray(0, 16_000)) + power(included.subarray(32_000)), 0)
  assert(power(included.subarray(17_000, 31_000)) > 0, 'it sounds within')
})

test('a sound that is probably absent is 28 dB softer, unless spans say that it is there', () => {
  const chunk = mono(noise(64_000, 5))
  for (const prompt of ['a dog barking', 'a baby crying', 'a siren']) {
    const separation = separateOne(mini, laneRequest(chunk, prompt))
    const { target, match } = separation
    assert.ok(match! < 0.1, `${prompt}: a match of ${match}`)
    assert(power(target[0]!) > 0, `${prompt}: it is never silence`)
    assertClose([separation.presenceGain!], [10 ** (-28 / 20)], { absolute: 1e-6 })
    assertSound(separation, chunk)
    const spans = [{ start: 0, end: 3, include: true }]
    const withSpan = separateOne(mini, { ...laneRequest(chunk, prompt), spans })
    assert.equal(withSpan.presenceGain, 1, `${prompt}: all of it`)
  }
})

test('a prompt that is near no known name is answered with everything but speech', async () => {
  const [left] = await readWav16(examplePath('speech-over-piano.wav'))
  const chunk = mono(left!.subarray(0, 150_000), 44_100)
  const speech = separateOne(mini, laneRequest(chunk, 'speech'))
  assert.ok(speech.match! >= 0.9, `a match of ${speech.match}`)
  assert.ok(speech.understoodAs && speech.substitute === undefined)
  assert.deepEqual(speech.nearest, [])
  const rest = separateOne(mini, laneRequest(chunk, 'a lawn mower'))
  assertSound(rest, chunk)
  const [filtered] = highPass(chunk).channels
  const without = filtered!.map((sample, i) => sample - speech.target[0]![i]!)
  assertClose(rest.target[0]!, without, { absolute: 1e-5 })
  assert.deepEqual([rest.understoodAs, rest.match], [null, undefined])
  assert.equal(rest.substitute, 'everything but speech')
  assert.deepEqual(rest.nearest?.slice(0, 2), ['helicopter', 'motorcycle'])
  const spans = [{ start: 1, end: 2, include: true }]
  const within = separateOne(mini, { ...laneRequest(chunk, 'a lawn mower'), spans })
  const gain = spanGain(spans, chunk.channels[0]!.length, 44_100)
  assertClose(
    within.target[0]!,
    rest.target[0]!.map((sample, i) => sample * gain[i]!),
    { absolute: 1e-5 },
  )
  const silentOfSpeech = mono(noise(64_000, 5))
  const whole = separateOne(mini, laneRequest(silentOfSpeech, 'a lawn mower'))
  assert.deepEqual(whole.target, highPass(silentOfSpeech).channels)
})

test('unusual words for a voice are not answered with everything but speech', () => {
  const prompt = 'sounds from a human mouth'
  const { understoodAs, substitute } = separateOne(mini, laneRequest(mono(wave), prompt))
  assert.deepEqual([understoodAs, substitute], [null, undefined])
})

test('several prompts for one mixture share its encoding, with the same results as alone', () => {
  const both = laneRequest(mono(wave), 'piano')
  const requests = [
    both,
    laneRequest(both.chunk, 'a dog barking'),
    laneRequest(mono(noise(wave.length, 4)), 'piano'),
    { ...both, spans: [{ start: 0.2, end: 0.9, include: true }] },
  ]
  const [one, other, ...apart] = requests
  for (const model of [mini, miniTogether]) {
    const lanes = [
      ...model.open(both, [one!, other!]),
      ...apart.map((request) => openLane(model, request)),
    ] as MiniLane[]
    const { groups } = planBatch(lanes, model === miniTogether).plan
    const parts = groups.map((group) => group.parts)
    assert.deepEqual(parts, model === mini ? [[[0], [0]], [[0]], [[0]]] : [[[0, 0, 1, 2]]])
    model.step(lanes)
    for (const [i, lane] of lanes.entries()) {
      const alone = separateOne(mini, requests[i]!)
      assertClose(closeLane(model, lane).target[0]!, alone.target[0]!, { absolute: 1e-5 })
    }
  }
})

test('heads for the same sound share a lane, and each is softened as it asks', () => {
  const request = laneRequest(mono(wave), 'siren')
  const heads = ['siren', 'piano', 'a wailing siren'].map((prompt) => ({ ...request, prompt }))
  heads[2] = { ...heads[2]!, keepsLevel: true }
  const lanes = mini.open(request, heads)
  assert.deepEqual(
    lanes.map((lane) => lane.heads),
    [[0, 2], [1]],
  )
  mini.step(lanes)
  const [softened, whole] = mini.close(lanes[0]!)
  mini.close(lanes[1]!)
  assert.deepEqual([softened!.understoodAs, whole!.understoodAs], ['siren', 'siren'])
  const gain = softened!.presenceGain!
  assert.ok(gain < 1 && whole!.presenceGain === 1)
  assertClose(
    softened!.target[0]!,
    whole!.target[0]!.map((x) => gain * x),
    { absolute: 1e-6 },
  )
  assert.notEqual(softened!.target[0]!.buffer, whole!.target[0]!.buffer)
})

test('a chunk that the description does not allow is refused', () => {
  const refuse = (chunk: Chunk, message: RegExp) =>
    assert.throws(() => openLane(mini, laneRequest(chunk)), message)
  refuse({ channels: [], sampleRate: 8000 }, /1 to 8 channels/)
  refuse({ channels: Array<Float32Array>(9).fill(wave), sampleRate: 8000 }, /not 9/)
  refuse(mono(new Float32Array(0)), /at least one sample/)
  refuse({ channels: [wave, wave.slice(1)], sampleRate: 8000 }, /one length/)
  refuse(mono(wave, 0), /positive number of hertz/)
  refuse(mono(wave, Number.NaN), /positive number of hertz/)
  refuse(mono(wave, 400_000_000), /up to 768000, not 400000000/)
})

test('the description names the weights', () => {
  assert.equal(mini.description.parameters, 9_241_917)
  assert.match(mini.description.weightsSha256, /^[0-9a-f]{64}$/)
})

test('candidates cut time at other places: the first is the default, the others are close to it', async () => {
  const [left] = await readWav16(examplePath('speech-over-piano.wav'))
  const plain = laneRequest(mono(left!, 44_100), 'piano')
  const results = [0, 1, 7].map((candidate) => separateOne(mini, { ...plain, candidate }))
  assertClose(results[0]!.target[0]!, separateOne(mini, plain).target[0]!, { absolute: 1e-5 })
  const targets = new Set(results.map(({ target }) => target[0]!.slice(44_100, 44_200).join()))
  assert.equal(targets.size, 3)
  for (const { target, score } of results) {
    assertSound({ target }, plain.chunk)
    assert.ok(score > 0 && score < 1, `a score of ${score}`)
    const apart = Float32Array.from(target[0]!, (x, i) => x - results[0]!.target[0]![i]!)
    const share = power(apart) / power(target[0]!)
    assert.ok(share < 0.1, `a share of ${share} is different`)
  }
})

test('predicted spans shape the target as requested ones do', () => {
  const rate = 32_000
  const silent = new Float32Array(wave.length)
  const chunk = mono(Float32Array.from([...silent, ...wave, ...silent]), rate)
  const { target, predictedSpans } = separateOne(mini, {
    ...laneRequest(chunk, 'music'),
    predictSpans: true,
  })
  assertSound({ target }, chunk)
  assert.ok(predictedSpans && predictedSpans.length > 0, 'something was predicted')
  const plain = separateOne(mini, laneRequest(chunk, 'music'))
  assert.equal(plain.predictedSpans, undefined)
  const gain = spanGain(predictedSpans, chunk.channels[0]!.length, rate)
  assertClose(
    target[0]!,
    plain.target[0]!.map((sample, i) => sample * gain[i]!),
    { absolute: 1e-5 },
  )
})

test('without predicted spans nothing is silenced, and requested spans are not overruled', () => {
  const chunk = mono(noise(32_000, 5))
  const absent = { ...laneRequest(chunk, 'a dog barking'), predictSpans: true }
  const { predictedSpans, target } = separateOne(mini, absent)
  if (predictedSpans?.length === 0) {
    const plain = separateOne(mini, { ...absent, predictSpans: false })
    assertClose(target[0]!, plain.target[0]!, { absolute: 1e-5 })
  }
  const silence = separateOne(mini, { ...absent, chunk: mono(new Float32Array(32_000)) })
  assert.deepEqual(silence.predictedSpans, [])
  const spans = [{ start: 0, end: 0.5, include: true }]
  const withSpans = separateOne(mini, { ...absent, spans })
  assert.equal(withSpans.predictedSpans, undefined)
  assert.ok(
    withSpans.target[0]!.subarray(16_000).every((x) => x === 0),
    'silent outside',
  )
})

test('a step that fails at its second lane advances none, leaks nothing and can be retried', () => {
  const chunks = [mono(noise(32_000, 1)), mono(noise(32_000, 2))]
  const expected = chunks.map((chunk) => separateOne(mini, laneRequest(chunk, 'rain', 'quality')))
  const lanes = chunks.map((chunk) => openLane(mini, laneRequest(chunk, 'rain', 'quality')))
  mini.step(lanes) // the failure then hits lanes that have begun
  const { binding } = native
  const failing: typeof binding.executeOp = (name, ...words) => {
    if (name.startsWith(GRAPH_NAME) || name === 'IRFFT') failures -= 1
    if (failures < 0) throw new Error('no memory')
    return binding.executeOp(name, ...words)
  }
  let failures = 1
  native.binding = Object.create(binding, { executeOp: { value: failing } })
  assert.throws(() => mini.step(lanes), /no memory/)
  const held = tf.memory().numTensors
  assert.throws(() => mini.step(lanes), /no memory/)
  assert.equal(tf.memory().numTensors, held)
  native.binding = binding
  assert.deepEqual(
    lanes.map(({ stepsDone }) => stepsDone),
    [1, 1],
  )
  for (const lane of lanes) while (lane.stepsDone < lane.steps) mini.step([lane])
  for (const [i, lane] of lanes.entries()) {
    assertClose(closeLane(mini, lane).target[0]!, expected[i]!.target[0]!, { absolute: 1e-5 })
  }
})
