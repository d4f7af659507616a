import assert from 'node:assert/strict'
import test from 'node:test'
import type { Mixture } from '../../../../../engine/media/read/mixture.ts'
import type { ChunkOrder } from '../../../../../engine/compute/compute-messages.ts'
import { headsAtOnce } from '../../../../../engine/job/separation/separate-chunk.ts'
import { separateMixture } from '../../../../../engine/job/separation/separate-mixture.ts'
import { ResamplingThreads } from '../../../../../engine/media/resampling-threads.ts'
import type { HeadResult, LaneRequest, ModelDescription } from '../../../../../models/model.ts'
import { readTaggerConfig, TAGGER } from '../../../../../models/tagger/config.ts'
import { melFraming, stepSamples } from '../../../../../models/tagger/mel.ts'
import { Mix } from '../../../../../engine/job/outputs/mix.ts'
import type { MixedTargets } from '../../../../../engine/job/outputs/target-mixer.ts'
import { residualOf } from '../../../../../engine/job/outputs/residual.ts'
import { targetNames, type Job, type OutputName } from '../../../../../shared/messages.ts'
import {
  DEFAULT_OPTIONS,
  type SeparationOptions,
} from '../../../../../shared/separation-options.ts'

const resampling = new ResamplingThreads()
const RATE = 100
const SECONDS = 10

const span = (start: number, end: number, include = true) => ({ start, end, include })

/**
 * Makes ten seconds of sound in blocks of half a second; `decoded` counts the samples read so far.
 */
function fakeMixture() {
  const wave = Float32Array.from({ length: SECONDS * RATE }, (_, i) => Math.sin(i))
  let decoded = 0
  async function* blocks() {
    for (; decoded < wave.length; decoded += RATE / 2)
      yield [wave.slice(decoded, decoded + RATE / 2)]
  }
  const mixture = { sampleRate: RATE, channels: 1, blocks } as unknown as Mixture
  return { mixture, wave, decoded: () => decoded }
}

const model = {
  name: 'fake',
  answers: 'text',
  stems: [] as readonly string[],
  sampleRate: null,
  fixedChunks: null,
  joining: { kind: 'seam' },
  chunkSecondsMax: 4,
  overlapSecondsMax: { fast: 0.5, balanced: 1, quality: 2 },
  passes: { fast: '', balanced: '', quality: '' },
  givesCandidates: true,
  predictsSpans: true,
  frameSamples: 1,
} as ModelDescription

const LEVEL = { mean: 0.25, deviation: 0.5 }

type Lane = LaneRequest & { model: string; samples: number }

interface World {
  model?: Partial<ModelDescription>
  /** Models that come before the fake one, which answers what they don't. */
  others?: readonly ModelDescription[]
  prompt?: string
  requestId?: string
  /** As measured; 0 if unknown. */
  secondsExpected?: number
  /** The share of the mixture that the model finds for a sound. */
  share?: (sound: string) => number
  /** The model's findings about a lane. */
  found?: (lane: Lane) => Pick<HeadResult, 'match' | 'understoodAs'>
  /** Logits of sounds in the first half of the mixture; all others are surely absent. */
  heard?: Readonly<Record<string, number>>
}

const jobOf = (
  prompt: string,
  options: Partial<SeparationOptions> = {},
  request_id = 'req_1',
): Job =>
  ({
    ...{ request_id, account_id: 'acc_1', prompt },
    options: { ...DEFAULT_OPTIONS, ...options },
  }) as Job

type Deps = Parameters<typeof separateMixture>[2]

/** Dependencies with the fake model, whose results go nowhere. */
const depsOf = (
  separate: (...call: never[]) => Promise<unknown>,
  more: Partial<Deps> = {},
): Deps => ({
  scheduler: { separate } as never,
  resampling,
  models: [model],
  tagger: null,
  config: { chunksInFlightMax: 2 },
  signal: new AbortController().signal,
  log: () => undefined,
  secondsExpected: SECONDS,
  write: async () => undefined,
  onProgress: () => undefined,
  ...more,
})

const tagger = await readTaggerConfig()

/** Samples per step of the tagger at this low rate. */
const STEP_SAMPLES = stepSamples(melFraming(RATE))

/**
 * Returns the tagger's logits [steps · classes] for the fake mixture, in which these sounds are
 * heard.
 */
function tagsOf(heard: Readonly<Record<string, number>>): Float32Array {
  const { names } = tagger.classes
  const steps = Math.ceil((SECONDS * RATE) / STEP_SAMPLES)
  const tags = new Float32Array(steps * names.length).fill(-20)
  for (const [name, logit] of Object.entries(heard)) {
    for (let step = 0; step < steps / 2; step += 1) {
      tags[step * names.length + names.indexOf(name)] = logit
    }
  }
  return tags
}

/**
 * Separates the fake mixture with a model whose target is a quarter of it, and records all calls.
 */
async function separateFake(options: Partial<SeparationOptions>, world: World = {}) {
  const { mixture, wave, decoded } = fakeMixture()
  const [lanes, progress, logs]: [Lane[], number[], string[]] = [[], [], []]
  const parts: Map<OutputName, readonly Float32Array[]>[] = []
  const under = { way: 0, wayMost: 0, ahead: 0 }
  const mix = new Mix()
  let recipeOf: readonly number[] = []
  let measured = 0
  const note = ({ mixture, targets }: MixedTargets) => {
    const names = [...targetNames(recipeOf.length), 'residual' as const]
    const outputs = [
      ...recipeOf.map((recipe) => targets[recipe]!),
      residualOf(
        mixture.map((wave) => wave.slice()),
        targets,
      ),
    ]
    parts.push(new Map(names.map((name, i) => [name, outputs[i]!])))
  }
  const separate = async (
    { model: name, request, heads }: ChunkOrder,
    _owner: object,
    { onStep }: { onStep(share: number): void },
  ): Promise<HeadResult[]> => {
    const { channels } = request.chunk
    if (name === TAGGER) return [{ target: [], score: 0, tags: tagsOf(world.heard!) }]
    const own = heads.map((head) => ({
      ...request,
      ...head,
      model: name,
      samples: channels[0]!.length,
    }))
    lanes.push(...own)
    under.way += own.length
    under.wayMost = Math.max(under.wayMost, under.way)
    const written = parts.reduce((sum, part) => sum + part.get('target')![0]!.length, 0)
    under.ahead = Math.max(under.ahead, decoded() - written)
    await new Promise(setImmediate)
    under.way -= own.length
    for (const _ of own) onStep(1)
    return own.map((lane) => {
      const share = world.share?.(lane.prompt) ?? (lane.prompt === 'cat meowing' ? 0.125 : 0.25)
      return {
        target: channels.map((wave) => wave.map((x) => share * x)),
        score: lane.candidate ?? 0,
        ...world.found?.(lane),
        ...(world.model?.needsPreviousChunk && {
          overlapState: {
            startSample: lane.startSample! + lane.candidate!,
            states: Float32Array.of(share),
          },
        }),
      }
    })
  }
  const job = jobOf(world.prompt ?? 'A dog.', options, world.requestId)
  const deps = depsOf(separate, {
    models: [...(world.others ?? []), { ...model, ...world.model }],
    tagger: world.heard ? tagger : null,
    log: (line) => logs.push(line),
    secondsExpected: world.secondsExpected ?? SECONDS,
    measureLevels: async () => {
      measured += 1
      return [LEVEL]
    },
    write: async (separated) => {
      recipeOf = separated.plan.recipeOf
      note(mix.add(separated))
    },
    onProgress: (part) => progress.push(part),
  })
  const { samples, findings } = await separateMixture(job, mixture, deps).finally(() =>
    assert.equal(under.way, 0, 'nothing goes on'),
  )
  const last = mix.finish()
  if (last) note(last)
  const join = (name: OutputName) =>
    Float32Array.from(parts.flatMap((each) => [...(each.get(name)?.[0] ?? [])]))
  return {
    samples,
    findings,
    wave,
    lanes,
    progress,
    logs,
    under,
    measured,
    target: join('target'),
    residual: join('residual'),
    target2: join('target_2'),
  }
}

const seedsOf = ({ lanes }: { lanes: Lane[] }) => lanes.map(({ seed }) => seed)

test('cut, separated and joined, target and residual are as long as the mixture and add up to it', async () => {
  const { samples, wave, target, residual, lanes } = await separateFake({
    max_chunk_duration: 2,
    chunk_overlap: 0.5,
  })
  assert.equal(samples, SECONDS * RATE)
  assert.ok(
    lanes.every((lane) => lane.samples === 2 * RATE),
    'every chunk lasts 2 s',
  )
  assert.equal(lanes.length, 7) // 2 s, and each further chunk adds 1.5 s
  assert.equal(target.length, wave.length)
  for (const [i, x] of wave.entries())
    assert.ok(Math.abs(target[i]! + residual[i]! - x) < 1e-6, `sample ${i}`)
})

test("max_chunk_duration and chunk_overlap limit the model's own values, by acceleration", async () => {
  const lanesOf = async (options: Partial<SeparationOptions>) => (await separateFake(options)).lanes
  const lengths = async (options: Partial<SeparationOptions>) => [
    ...new Set((await lanesOf(options)).map(({ samples }) => samples / RATE)),
  ]
  assert.deepEqual(await lengths({}), [4])
  assert.deepEqual(await lengths({ max_chunk_duration: 3 }), [3])
  const counts = [
    ['fast', 3],
    ['balanced', 3],
    ['quality', 4],
  ] as const // chunks of 4 s, each adding 3.5, 3 or 2 s
  for (const [acceleration, count] of counts) {
    const lanes = await lanesOf({ acceleration })
    assert.equal(lanes.length, count, acceleration)
    assert.ok(
      lanes.every((lane) => lane.acceleration === acceleration),
      'the model is given it',
    )
  }
  assert.equal((await lanesOf({ acceleration: 'quality', chunk_overlap: 0 })).length, 3)
})

test('a chunk_overlap not below max_chunk_duration becomes half a chunk, and logs say so', async () => {
  for (const chunk_overlap of [2, 30]) {
    const { lanes, logs, wave, target } = await separateFake({
      max_chunk_duration: 2,
      chunk_overlap,
    })
    assert.equal(lanes.length, 9) // 2 s, and each further chunk adds 1 s
    assert.equal(target.length, wave.length)
    assert.match(logs.join('\n'), RegExp(`chunk_overlap, ${chunk_overlap} s, was reduced`))
  }
  const { logs } = await separateFake({ max_chunk_duration: 2, chunk_overlap: 1.9 })
  assert.doesNotMatch(logs.join('\n'), /was reduced/)
})

test('prompt, spans and predict_spans reach the model, but not predict_spans with spans', async () => {
  const given = async (options: Partial<SeparationOptions>) =>
    (await separateFake(options)).lanes.map(({ prompt, spans, predictSpans }) => {
      assert.equal(prompt, 'dog')
      return { spans, predictSpans }
    })
  for (const predictSpans of [false, true]) {
    const expected = { spans: [], predictSpans }
    assert.deepEqual(await given({ predict_spans: predictSpans }), [expected, expected, expected])
  }
  const spans = [span(1, 5), span(6.5, 7, false)]
  // Chunks of 4 s, starting at 0, 3 and 6 s.
  const spansOfChunks = [
    [span(1, 4)],
    [span(0, 2), span(3.5, 4, false)],
    [span(0.5, 1, false), span(0, 0)], // the empty one: it sounds elsewhere
  ]
  assert.deepEqual(
    await given({ predict_spans: true, spans }),
    spansOfChunks.map((spans) => ({ spans, predictSpans: false })),
  )
})

test('each chunk has its candidates, of which the best is kept; a model without candidates gives one', async () => {
  const { lanes, logs } = await separateFake({ reranking_candidates: 3 })
  assert.deepEqual(
    lanes.map(({ candidate }) => candidate),
    [0, 1, 2, 0, 1, 2, 0, 1, 2],
  )
  assert.match(logs.join('\n'), /Chunk 3: candidate 3 was kept; scores 0\.0000, 1\.0000, 2\.0000\./)
  const single = await separateFake(
    { reranking_candidates: 3 },
    { model: { givesCandidates: false } },
  )
  assert.equal(single.lanes.length, 3)
  assert.match(single.logs.join('\n'), /one candidate was made/)
})

test('seeds come from request and candidate alone; chunks state where they start', async () => {
  const options = { reranking_candidates: 2 }
  const { lanes } = await separateFake(options)
  const seeds = seedsOf({ lanes })
  assert.equal(new Set(seeds).size, 2)
  assert.equal(new Set(lanes.map(({ seed, startSample }) => `${seed} at ${startSample}`)).size, 6)
  assert.deepEqual(seedsOf(await separateFake(options)), seeds)
  const others = seedsOf(await separateFake(options, { requestId: 'req_2' }))
  assert.equal(new Set([...seeds, ...others]).size, 4)
})

test('progress grows and stays below 1, even if the expected length is missing or wrong', async () => {
  const options = { reranking_candidates: 2, max_chunk_duration: 1, chunk_overlap: 0 }
  const { progress } = await separateFake(options)
  assert.equal(new Set(progress).size, 20)
  for (const secondsExpected of [SECONDS, 2, 0, 1_000]) {
    const { progress } = await separateFake(options, { secondsExpected })
    assert.deepEqual(
      progress,
      [...progress].sort((a, b) => a - b),
    )
    assert.ok(progress[0]! > 0 && progress.at(-1)! < 1, `${progress}`)
  }
})

test('only a few chunks are in progress at once, however long the media', async () => {
  const { under } = await separateFake({ max_chunk_duration: 0.5, chunk_overlap: 0.1 })
  assert.ok(under.wayMost <= 2, `${under.wayMost} at once`)
  assert.ok(under.ahead <= 3 * RATE, `${under.ahead} samples ahead`)
})

test('if chunks need the previous one, one is in progress, with the overlap state of the kept candidate', async () => {
  const { under, lanes } = await separateFake(
    { max_chunk_duration: 4, reranking_candidates: 2 },
    { model: { needsPreviousChunk: true } },
  )
  assert.equal(under.wayMost, 2, 'the candidates of one chunk')
  assert.deepEqual(
    lanes.map(({ startSample, overlapSamples }) => [startSample, overlapSamples]),
    [
      [0, RATE],
      [0, RATE],
      [300, RATE],
      [300, RATE],
      [600, 0],
      [600, 0],
    ],
  )
  assert.deepEqual(
    lanes.map(({ overlapState }) => overlapState?.startSample),
    [undefined, undefined, 1, 1, 301, 301],
  )
})

const TWO_PROMPTS = { further_prompts: ['A cat.'] }

test('several prompts share the chunks; the residual is the mixture minus every target', async () => {
  const { wave, target, target2, residual, lanes, under } = await separateFake({
    ...TWO_PROMPTS,
    reranking_candidates: 2,
  })
  assert.deepEqual(
    lanes.slice(0, 4).map(({ prompt, candidate }) => [prompt, candidate]),
    [
      ['dog', 0],
      ['dog', 1],
      ['cat meowing', 0],
      ['cat meowing', 1],
    ],
  )
  assert.equal(under.wayMost, 8, 'the heads of two chunks')
  for (const [i, x] of wave.entries()) {
    assert.ok(Math.abs(target[i]! - 0.25 * x) < 1e-6)
    assert.ok(Math.abs(target2[i]! - 0.125 * x) < 1e-6)
    assert.ok(Math.abs(target[i]! + target2[i]! + residual[i]! - x) < 1e-6)
  }
})

test('prompts that are read as one sound share its output, which is subtracted from the residual once', async () => {
  const found = () => ({ understoodAs: 'dog' })
  const { wave, target, target2, residual, findings, logs } = await separateFake(TWO_PROMPTS, {
    found,
  })
  assert.deepEqual(target2, target)
  for (const [i, x] of wave.entries()) assert.ok(Math.abs(target[i]! + residual[i]! - x) < 1e-6)
  assert.deepEqual(
    findings.map(({ same_as }) => same_as),
    [undefined, 'A dog.'],
  )
  assert.match(logs.join('\n'), /"A cat\." is read as the same sound as "A dog\."/)
})

test('each prompt has the match over all its chunks and its name, if the model reports them', async () => {
  const matches = [0.2, 0.9, 0.4] // one per chunk
  let lanes = 0
  const found = ({ prompt }: Lane) =>
    prompt === 'dog'
      ? { match: matches[Math.floor(lanes++ / 2)]!, understoodAs: 'dog' }
      : { match: matches[Math.floor(lanes++ / 2)]! / 2, understoodAs: null }
  const { findings } = await separateFake(TWO_PROMPTS, { found })
  assert.deepEqual(findings, [
    {
      ...{ match: 0.7677, understood_as: 'dog', state: 'found', model: 'fake' },
      asked: [{ sound: 'dog', excluded: false, state: 'found' }],
    },
    {
      ...{ match: 0.2822, understood_as: null, state: 'unknown', softened_db: 0, nearest: [] },
      model: 'fake',
      asked: [{ sound: 'cat meowing', excluded: false, state: 'unknown' }],
    },
  ])
  assert.deepEqual((await separateFake(TWO_PROMPTS)).findings, [
    { model: 'fake', asked: [{ sound: 'dog', excluded: false }] },
    { model: 'fake', asked: [{ sound: 'cat meowing', excluded: false }] },
  ])
})

test('tagger and match decide together, and a sound is found where it is heard', async () => {
  const heard = { dog: 5, cello: 5, violin: -3 }
  const matching = async (prompt: string, match: number, understoodAs = prompt) => {
    const { findings } = await separateFake(
      {},
      { prompt, heard, found: () => ({ match, understoodAs }) },
    )
    return findings[0]!
  }
  const dog = await matching('dog', 0.9)
  assert.deepEqual([dog.state, dog.where!.length, dog.where![0]!.start], ['found', 1, 0])
  assert.ok(Math.abs(dog.where![0]!.end - SECONDS / 2) < 1)
  assert.ok(Math.abs(dog.share! - 0.5) < 0.1)
  assert.ok(dog.match! > 0.9)
  const violin = await matching('violin', 0.3)
  assert.deepEqual([violin.state, violin.similar_to], ['similar', 'cello'])
  assert.equal(violin.where, undefined)
  const rain = await matching('rain', 0.6)
  assert.notEqual(rain.state, 'found', 'before, its match was enough')
  assert.equal((await matching('rain', 0.02)).state, 'absent')
  const without = await matching('no dog', 0.9, 'dog')
  assert.deepEqual([without.state, without.where], ['found', dog.where])
})

test("only the tagger decides about stems: what bleeds into an instrumental's vocals is not found", async () => {
  const stateOf = async (prompt: string, heard: Record<string, number>) =>
    (await separateFake({}, { prompt, heard, others: [STEMS] })).findings[0]!.state
  const band = { 'drum kit': 5, 'acoustic guitar': 4 }
  assert.equal(await stateOf('vocals', band), 'absent')
  assert.equal(await stateOf('drums', band), 'found')
  assert.equal(await stateOf('vocals', { ...band, singing: 5 }), 'found')
  assert.equal(await stateOf('no vocals', band), 'absent')
})

test('each prompt follows its own overlap states', async () => {
  const { lanes } = await separateFake(TWO_PROMPTS, { model: { needsPreviousChunk: true } })
  assert.deepEqual(
    lanes.map(({ prompt, overlapState }) => [prompt, overlapState?.states[0]]),
    [
      ['dog', undefined],
      ['cat meowing', undefined],
      ...[1, 2].flatMap(() => [
        ['dog', 0.25],
        ['cat meowing', 0.125],
      ]),
    ],
  )
})

test('a span past the end is refused once the end is known', async () => {
  const spans = [span(1, 2), span(SECONDS, SECONDS + 1)]
  await assert.rejects(separateFake({ spans }), {
    code: 'INVALID_PARAMETER',
    param: 'input.spans[1].start',
    message: /the media ends at 10\.000 s/,
  })
  await separateFake({ spans: [span(SECONDS - 0.01, 1_000)] })
})

test('a lane that fails stops the others of its job, in every chunk, and its error is the outcome', async () => {
  const { mixture } = fakeMixture()
  const stopped: number[] = []
  let lanes = 0
  const separate = (_order: ChunkOrder, _owner: object, { signal }: { signal: AbortSignal }) => {
    const lane = (lanes += 1)
    if (lane === 2) return Promise.reject(new Error('the model failed'))
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        stopped.push(lane)
        reject(signal.reason as Error)
      })
    })
  }
  const job = jobOf('A dog.', { max_chunk_duration: 2 })
  await assert.rejects(separateMixture(job, mixture, depsOf(separate)), /the model failed/)
  assert.deepEqual(stopped, [1])
})

const STEMS = {
  ...model,
  name: 'stems',
  answers: 'stems',
  stems: ['drums', 'vocals'],
  sampleRate: 40,
  fixedChunks: { samples: 120, hop: 90 },
  joining: { kind: 'weighted', weights: new Float32Array(120).fill(1) },
  givesCandidates: false,
} as ModelDescription

test('prompts go to the models that answer them, at the rate of each, and everything adds up', async () => {
  const { lanes, wave, target, target2, residual, findings, logs } = await separateFake(
    { further_prompts: ['drums'] },
    { others: [STEMS] },
  )
  assert.deepEqual(
    findings.map(({ model: name }) => name),
    ['fake', 'stems'],
  )
  const own = lanes.filter(({ model: name }) => name === 'stems')
  assert.deepEqual([...new Set(own.map(({ samples }) => samples))], [120])
  assert.deepEqual(
    own.map(({ startSample, stems }) => [startSample, stems]),
    [0, 90, 180, 270, 280].map((start) => [start, ['drums']]),
  )
  assert.equal(target2.length, wave.length)
  for (const [i, x] of wave.entries()) {
    assert.ok(Math.abs(target[i]! - 0.25 * x) < 1e-6)
    assert.ok(Math.abs(target[i]! + target2[i]! + residual[i]! - x) < 1e-6, `sample ${i}`)
  }
  assert.match(logs.join('\n'), /"drums" is the stem drums of stems\./)
})

test('several stems of a song share one pass, and "no vocals" is the mixture without them', async () => {
  const { lanes, wave, target, target2 } = await separateFake(
    { further_prompts: ['drums and vocals'] },
    { others: [{ ...STEMS, sampleRate: null }], prompt: 'no vocals' },
  )
  assert.deepEqual(
    lanes.slice(0, 2).map(({ stems, startSample }) => [stems, startSample]),
    [
      [['vocals'], 0],
      [['drums', 'vocals'], 0],
    ],
  )
  for (const [i, x] of wave.entries()) {
    assert.ok(Math.abs(target[i]! - 0.75 * x) < 1e-6)
    assert.ok(Math.abs(target2[i]! - 0.25 * x) < 1e-6)
  }
})

test('the level of the mixture is measured once, and only for models that need it', async () => {
  const further = { further_prompts: ['drums', 'rain'] }
  const song = { ...STEMS, sampleRate: null, needsLevels: true }
  const { lanes, measured } = await separateFake(further, { others: [song], prompt: 'vocals' })
  assert.equal(measured, 1)
  for (const { model, chunk } of lanes) {
    assert.deepEqual(chunk.levels, model === STEMS.name ? [LEVEL] : undefined)
  }
  assert.equal((await separateFake({}, { others: [song], prompt: 'rain' })).measured, 0)
})

test('a job has a bounded number of bytes open at once, whatever it asks for', () => {
  assert.equal(headsAtOnce(44_100 * 10 * 8, 1), 2) // eight channels of ten seconds
  assert.equal(headsAtOnce(2 ** 24, 1), 1)
})

test('the models that answer one job share its memory, and candidates are ranked over all calls', async () => {
  const rate = 2 ** 22
  const blocks = async function* () {
    yield [new Float32Array(rate)] // one chunk, of which two heads fit: one for each model
  }
  const orders: string[] = []
  const logs: string[] = []
  const separate = async ({ model: name, request, heads }: ChunkOrder): Promise<HeadResult[]> => {
    orders.push(`${name} ${heads.length}`)
    return heads.map(({ candidate }) => ({ target: request.chunk.channels, score: candidate! }))
  }
  const stems = { ...STEMS, sampleRate: null, fixedChunks: null, joining: model.joining }
  const options = { further_prompts: ['A cat.', 'drums', 'vocals'], reranking_candidates: 2 }
  await separateMixture(
    jobOf('A dog.', options),
    { sampleRate: rate, channels: 1, blocks } as unknown as Mixture,
    depsOf(separate, { models: [stems, model], log: (line) => logs.push(line) }),
  )
  assert.deepEqual(orders.sort(), [...Array(4).fill('fake 1'), ...Array(2).fill('stems 1')])
  for (const prompt of ['A dog.', 'A cat.']) {
    const kept = `"${prompt}": Chunk 1: candidate 2 was kept; scores 0.0000, 1.0000.`
    assert.ok(logs.includes(kept), logs.join('\n'))
  }
})

/** Share of the mixture that the model finds for each sound. */
const SHARES: Readonly<Record<string, number>> = { drums: 0.5, speech: 0.25, woman: 0.125 }
const sharesOf = ({ prompt }: Lane) => ({
  understoodAs: SHARES[prompt] ? prompt : null,
  match: 0.9,
})

async function sharesIn(prompt: string, options: Partial<SeparationOptions> = {}) {
  const { target, wave, lanes, findings } = await separateFake(options, {
    prompt,
    found: sharesOf,
    share: (sound) => SHARES[sound] ?? 0.7,
  })
  const share = target[100]! / wave[100]!
  for (const [i, x] of wave.entries()) assert.ok(Math.abs(target[i]! - share * x) < 1e-5, prompt)
  return { share: Math.round(1_000 * share) / 1_000, lanes, finding: findings[0]! }
}

test('a text model gives everything but a sound, sums, and sums without a part', async () => {
  const shares = {
    'no drums': 0.5,
    'everything but the drums and the speech': 0.25,
    'drums and speech': 0.75,
    'speech without the woman': 0.125,
    'speech, not drums': 0.25,
    'drums and a kettle': 0.5,
    kettle: 0.7,
  }
  for (const [prompt, share] of Object.entries(shares)) {
    assert.equal((await sharesIn(prompt)).share, share, prompt)
  }
})

test('an unknown sound is never removed, and never reported as found', async () => {
  const { share, finding } = await sharesIn('no kettle')
  assert.equal(share, 1)
  const { state, holds, asked } = finding
  assert.deepEqual([state, holds], ['unknown', 'everything'])
  assert.deepEqual(asked, [{ sound: 'kettle', excluded: true, state: 'unknown' }])
  assert.equal((await sharesIn('no drums and no kettle')).share, 0.5)
  const several = await sharesIn('drums and a kettle')
  assert.deepEqual([several.finding.state, several.finding.holds], ['unknown', 'drums'])
})

test('removed sounds keep their level, and so does everything if the residual is kept', async () => {
  const levels = async (prompt: string, options: Partial<SeparationOptions> = {}) =>
    (await sharesIn(prompt, options)).lanes.map(({ keepsLevel = false }) => keepsLevel)
  assert.ok((await levels('no drums')).every((keeps) => keeps))
  assert.ok((await levels('drums')).every((keeps) => !keeps))
  assert.ok((await levels('drums', { side: 'residual' })).every((keeps) => keeps))
})
