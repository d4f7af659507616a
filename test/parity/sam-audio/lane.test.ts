/** SAM-Audio as an engine uses it: lanes, batches, accelerations, spans, chunks that overlap. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLane, closeLane, type Acceleration, type LaneRequest } from '../../../models/model.ts'
import { loadJudge } from '../../../models/sam-audio/judge/judge.ts'
import type { SamAudioLane } from '../../../models/sam-audio/sam-audio-lane.ts'
import { loadSamAudio } from '../../../models/sam-audio/sam-audio.ts'
import type { Binding } from '../../../models/tensorflow/binding.ts'
import { native, tf } from '../../../models/tensorflow/tensor.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { noise, separate, separateOne } from '../../support/models/lanes.ts'
import { fc } from '../../support/basics/property.ts'
import { FIXTURES, MODEL_FOLDER } from '../../support/models/tiny-sam-audio.ts'

const model = await loadSamAudio(FIXTURES)
const sampleRate = model.description.sampleRate!
const hop = model.description.frameSamples

/**
 * Sums in another order round differently. A velocity may differ by 1e-5 (flow.test.ts), and so may
 * states, because strides add up to 1. The decoder adds 1e-5 (codec.test.ts), and doubles the
 * difference between states.
 */
const IN_A_BATCH = { absolute: 3e-5 }

const request = (samples: Float32Array, more: Partial<LaneRequest> = {}): LaneRequest => ({
  chunk: { channels: [samples], sampleRate },
  prompt: 'man speaking',
  spans: [],
  acceleration: 'fast',
  seed: 1,
  ...more,
})

const wave = noise(10 * hop - 7, 3)

test('the model loads from its own folder, or from one that holds its parts', async () => {
  const again = await loadSamAudio(MODEL_FOLDER)
  assert.deepEqual(again.description, model.description)
  assert.ok(model.description.parameters > 0)
  assert.match(model.description.weightsSha256, /^[0-9a-f]{64}$/)
  await assert.rejects(loadSamAudio(`${FIXTURES}/../parity/mini`), /no config.json/)
})

test('the target is as long as the chunk, whatever its length', () => {
  for (const samples of [1, 2, hop - 1, hop, hop + 1, 7 * hop]) {
    const { target, score } = separateOne(model, request(noise(samples, samples)))
    assert.deepEqual([target.length, target[0]!.length], [1, samples])
    assert.ok([...target[0]!, score].every(Number.isFinite))
  }
})

test('a lane takes a step per slice to encode, those of its acceleration, and a step per slice to decode', () => {
  const steps = (frames: number, acceleration: Acceleration) => {
    const lane = openLane(model, request(noise(frames * hop, 1), { acceleration }))
    model.discard(lane)
    return lane.steps
  }
  assert.deepEqual(
    (['fast', 'balanced', 'quality'] as const).map((each) => steps(10, each)),
    [10, 18, 34],
  )
  assert.deepEqual([steps(128, 'fast'), steps(192, 'fast')], [10, 12])
})

test('heads of one chunk encode it once, whichever steps first, and leave nothing behind', () => {
  const chunk = noise(300 * hop, 77) // three slices
  const heads = [1, 2].map((seed) => ({ prompt: 'rain', seed }))
  const alone = separateOne(model, request(chunk.slice(), heads[1]!))
  const before = tf.memory().numTensors
  const [first, second] = model.open(request(chunk.slice()), heads)
  const { encoding } = (first as SamAudioLane).plan
  model.step([first!])
  model.step([first!])
  assert.equal(encoding.left, 1)
  model.step([second!])
  assert.equal(encoding.left, 1)
  assert.deepEqual([first!.steps, second!.steps], [14, 14])
  model.discard(first!) // its encoding stays for the other
  while (second!.stepsDone < second!.steps) model.step([second!])
  assertClose(closeLane(model, second!).target[0]!, alone.target[0]!, IN_A_BATCH)
  assert.equal(tf.memory().numTensors, before)
})

test('a target stays in the channels of its sound', () => {
  const left = noise(60 * hop, 5)
  const open = request(left)
  const right = new Float32Array(left.length)
  const chunk = { channels: [left.slice(), right], sampleRate }
  const { target } = separateOne(model, { ...open, chunk })
  assert.equal(target.length, 2)
  const loudest = (wave: Float32Array) => wave.reduce((most, x) => Math.max(most, Math.abs(x)), 0)
  assert.ok(loudest(target[0]!) > 1e-3)
  assert.ok(loudest(target[1]!) < 1e-5, `${loudest(target[1]!)} on the silent side`)
})

test('the seed, the prompt, the spans and the acceleration matter; punctuation does not', () => {
  const base = separateOne(model, request(wave)).target[0]!
  const differs = (more: Partial<LaneRequest>) => {
    const { target } = separateOne(model, request(wave, more))
    return target[0]!.reduce((most, x, i) => Math.max(most, Math.abs(x - base[i]!)), 0)
  }
  const spans = [{ start: 0, end: 0.2, include: true }]
  for (const more of [{ seed: 2 }, { prompt: 'a dog' }, { spans }, { startSample: 3 * hop }]) {
    assert.ok(differs(more) > 1e-3, JSON.stringify(more))
  }
  assert.ok(differs({ spans: [{ ...spans[0]!, include: false }] }) > 1e-3, 'a span without it')
  assert.ok(differs({ acceleration: 'quality' }) > 1e-4, 'more steps')
  for (const more of [{}, { prompt: ' Man speaking. ' }]) {
    // whether it runs as a graph or step by step
    assert.ok(differs(more) < 1e-5, JSON.stringify(more))
  }
})

test("a lane's result does not depend on the lanes that share its batches, nor on when they joined", () => {
  const lane = fc.record({
    samples: fc.integer({ min: 1, max: 12 * hop }),
    prompt: fc.constantFrom('man speaking', 'a dog barking loudly in the distance', 'rain'),
    acceleration: fc.constantFrom<Acceleration>('fast', 'balanced', 'quality'),
    spans: fc.constantFrom(
      [],
      [{ start: 0.1, end: 0.3, include: true }],
      [{ start: 0, end: 1, include: false }],
    ),
    seed: fc.nat(),
    /** Round of steps before which it is opened. */
    after: fc.integer({ min: 0, max: 7 }),
  })
  fc.assert(
    fc.property(fc.array(lane, { minLength: 2, maxLength: 4 }), (cases) => {
      const requests = cases.map(({ samples, after: _, ...more }) =>
        request(noise(samples, more.seed), more),
      )
      const before = tf.memory().numTensors
      const results = separateStaggered(
        requests,
        cases.map(({ after }) => after),
      )
      const cached = tf.memory().numTensors - before
      for (const [i, result] of results.entries()) {
        const alone = separateOne(model, requests[i]!)
        assertClose(result.target[0]!, alone.target[0]!, IN_A_BATCH)
      }
      assert.ok(
        tf.memory().numTensors - before <= Math.max(cached, 0),
        'nothing is left but what is remembered',
      )
    }),
    { numRuns: 6 },
  )
})

/** Opens each lane in its round, as requests would arrive. */
function separateStaggered(requests: readonly LaneRequest[], after: readonly number[]) {
  const lanes = requests.map((each, i) => (after[i] === 0 ? openLane(model, each) : null))
  for (let round = 0; ; round += 1) {
    for (const [i, each] of requests.entries())
      if (after[i] === round) lanes[i] ??= openLane(model, each)
    const open = lanes.filter((lane) => lane !== null)
    const busy = open.filter((lane) => lane.stepsDone < lane.steps)
    if (busy.length > 0) model.step(busy)
    else if (open.length === requests.length) return open.map((lane) => closeLane(model, lane))
  }
}

/** Frames that two chunks share, and by how many frames the second one starts later. */
const SHARED = 60
const LATER = 20

function overlaps() {
  const whole = noise((2 * LATER + SHARED) * hop, 5)
  const separated = (startFrame: number, more: Partial<LaneRequest>) =>
    separateOne(
      model,
      request(whole.slice(startFrame * hop, (startFrame + LATER + SHARED) * hop), {
        startSample: startFrame * hop,
        ...more,
      }),
    )
  const first = separated(0, { overlapSamples: SHARED * hop })
  assert.ok(first.overlapState, 'it leaves a trail')
  const earlier = first.target[0]!.subarray(LATER * hop)
  const later = (more: Partial<LaneRequest>) =>
    separated(LATER, more).target[0]!.subarray(0, SHARED * hop)
  return { separated, overlapState: first.overlapState, earlier, later }
}

/** Returns the root mean square of the frames from `from` to `to`. */
function rms(wave: Float32Array, from: number, to: number): number {
  const part = wave.subarray(from * hop, to * hop)
  return Math.sqrt(part.reduce((sum, x) => sum + x ** 2, 0) / part.length)
}

test("a chunk inpainted with the previous one's overlap state renders the same where they overlap", () => {
  const { earlier, later, overlapState } = overlaps()
  const differences = (more: Partial<LaneRequest>) => {
    const other = later(more)
    const difference = earlier.map((x, i) => x - other[i]!)
    // Each chunk is more accurate where it has more context, and the cross-fade reflects that: at either
    // end, the chunk that only just begins or ends there has next to no weight.
    const faded = difference.map(
      (x, i) => x * (0.5 - 0.5 * Math.abs(Math.cos((Math.PI * i) / difference.length))),
    )
    return { middle: rms(difference, 25, 35), faded: rms(faded, 0, SHARED) }
  }
  const following = differences({ overlapState })
  const independent = differences({ seed: 2 })
  assert.ok(following.faded < 0.05 * independent.faded, 'cross-faded')
  assert.ok(
    following.middle < 1e-3 * independent.middle,
    'in the middle, far from what only one of them encodes',
  )
})

test('every candidate inpaints the overlap, which may begin later than the chunk', () => {
  const { separated, earlier, overlapState } = overlaps()
  for (const more of [
    { candidate: 1, seed: 7 },
    { candidate: 2, seed: 8 },
  ]) {
    const other = separated(LATER, { ...more, overlapState }).target[0]!
    assertClose(other.subarray(25 * hop, 35 * hop), earlier.subarray(25 * hop, 35 * hop), {
      absolute: 1e-5,
    })
  }
  const reachingBack = separated(LATER - 12, { overlapState }).target[0]!.subarray(12 * hop) // as a last chunk does
  assertClose(reachingBack.subarray(25 * hop, 35 * hop), earlier.subarray(25 * hop, 35 * hop), {
    absolute: 1e-5,
  })
})

test('an overlap state from no earlier chunk is refused, and its lane leaves nothing behind', () => {
  const { overlapState } = overlaps()
  const chunk = noise((LATER + SHARED) * hop, 6)
  separateOne(model, request(chunk.slice()))
  const before = tf.memory().numTensors
  for (const more of [
    { startSample: (LATER + 1) * hop, overlapState },
    { startSample: -hop, overlapState },
    { startSample: 1, overlapState },
    { startSample: LATER * hop, overlapState, acceleration: 'quality' as const },
    {
      startSample: LATER * hop,
      overlapState: { ...overlapState, states: overlapState.states.slice(1) },
    },
  ])
    assert.throws(
      () => openLane(model, request(chunk.slice(), more)),
      /not of a chunk before this one/,
    )
  assert.equal(tf.memory().numTensors, before)
})

test('a wrong rate or shape is refused, and invalid samples are read as silence', () => {
  const open = (channels: Float32Array[], rate = sampleRate) =>
    openLane(model, { ...request(wave), chunk: { channels, sampleRate: rate } })
  assert.throws(() => open([]), /1 to 8 channels/)
  assert.throws(() => open(Array.from({ length: 9 }, () => wave)), /1 to 8 channels/)
  assert.throws(() => open([new Float32Array(0)]), /1 to \d+ samples/)
  assert.throws(() => open([wave], 44_100), /samples in a second/)
  assert.throws(() => open([new Float32Array(sampleRate * 61)]), /1 to \d+ samples/)
  const broken = Float32Array.from(wave)
  const silent = Float32Array.from(wave)
  broken[5] = Number.NaN
  broken[6] = Number.POSITIVE_INFINITY
  silent[5] = silent[6] = 0
  const [actual, expected] = [broken, silent].map((samples) => separateOne(model, request(samples)))
  assertClose(actual!.target[0]!, expected!.target[0]!, { absolute: 1e-5 })
})

test('a lane cannot be stepped after its last step, nor closed before it', () => {
  const lane = openLane(model, request(wave))
  assert.throws(() => closeLane(model, lane), /0 of \d+ steps/)
  while (lane.stepsDone < lane.steps) model.step([lane])
  assert.throws(() => model.step([lane]), /cannot be stepped/)
  model.discard(lane)
})

test('predicted spans come from the span predictor, and act like requested ones', () => {
  const { predictedSpans, target } = separateOne(model, request(wave, { predictSpans: true }))
  assert.ok(predictedSpans && predictedSpans.length > 0, 'something was predicted')
  const actual = separateOne(model, request(wave, { spans: predictedSpans }))
  assert.equal(actual.predictedSpans, undefined)
  assertClose(target[0]!, actual.target[0]!, { absolute: 1e-5 })
  const spans = [{ start: 0, end: 0.1, include: true }]
  assert.equal(
    separateOne(model, request(wave, { predictSpans: true, spans })).predictedSpans,
    undefined,
  )
})

test('each of several candidates is scored by the judge, with its overall score', async () => {
  const { target, score } = separateOne(model, request(wave, { candidates: 2, prompt: 'Rain!' }))
  const { judge } = await loadJudge(`${FIXTURES}/judge-tiny`)
  const [verdict] = judge([{ mixture: wave, separated: target[0]!, prompt: 'rain' }])
  assertClose([score], [verdict!.overall], { absolute: 1e-5 })
  const single = separateOne(model, request(wave, { prompt: 'Rain!' }))
  assertClose(single.target[0]!, target[0]!, { absolute: 1e-5 })
  assert.ok(Math.abs(single.score - score) > 1e-3, 'the judge said nothing of the single one')
})

test('a step that runs out of memory anywhere leaves its lanes as they were', () => {
  const overlapSamples = 4 * hop
  const first = request(noise(20 * hop, 5), { overlapSamples })
  const { overlapState } = separateOne(model, first)
  const startSample = 16 * hop
  const requests = [5, 6].map((seed) =>
    request(noise(20 * hop, 6), { seed, overlapSamples, startSample, overlapState: overlapState! }),
  )
  const expected = separate(model, requests)
  const lanes = requests.map((each) => openLane(model, each))
  const { binding } = native
  let calls = 0
  /** Runs a step that fails at this call to TensorFlow. */
  const stepFailingAt = (call: number) => {
    calls = 0
    const executeOp: Binding['executeOp'] = (...operation) => {
      if (++calls === call) throw new Error('Invalid TF_Status: 8')
      return binding.executeOp(...operation)
    }
    native.binding = Object.create(binding, { executeOp: { value: executeOp } }) as Binding
    try {
      model.step(lanes)
    } finally {
      native.binding = binding
    }
  }
  model.step(lanes) // encodes, and starts the flows
  model.step(lanes)
  stepFailingAt(Infinity)
  const all = calls
  const done = lanes.map(({ stepsDone }) => stepsDone)
  const before = tf.memory().numTensors
  // The last operations make the new state of each lane.
  for (const fromEnd of [0, 1, 2, 3, 5, 8, all - 1]) {
    assert.throws(() => stepFailingAt(all - fromEnd), /TF_Status: 8/)
    assert.deepEqual(
      lanes.map(({ stepsDone }) => stepsDone),
      done,
    )
    assert.equal(tf.memory().numTensors, before, `${fromEnd} calls from the end`)
  }
  while (lanes.some(({ stepsDone, steps }) => stepsDone < steps)) model.step(lanes)
  for (const [i, lane] of lanes.entries()) {
    const { target } = closeLane(model, lane)
    assertClose(target[0]!, expected[i]!.target[0]!, { absolute: 1e-5 })
  }
})
