/** An interrupted job resumes where it stopped. */

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import test, { after, type TestContext } from 'node:test'
import type { ChunkOrder } from '../../../../../engine/compute/compute-messages.ts'
import { DeviceError } from '../../../../../engine/compute/compute-errors.ts'
import {
  encodeEntry,
  listEntries,
  readEntry,
  SegmentWriter,
} from '../../../../../engine/job/checkpoint/checkpoint-segment.ts'
import { createJobMedia } from '../../../../../engine/job/job-media.ts'
import { JobStoppedError } from '../../../../../engine/job/outcome.ts'
import { OutputThreads } from '../../../../../engine/job/outputs/output-threads.ts'
import { separateJob, type JobDeps } from '../../../../../engine/job/separate-job.ts'
import { SourceUnavailableError } from '../../../../../engine/media/read/source.ts'
import { ResamplingThreads } from '../../../../../engine/media/resampling-threads.ts'
import type { HeadResult, ModelDescription } from '../../../../../models/model.ts'
import { readTaggerConfig } from '../../../../../models/tagger/config.ts'
import { SEGMENTS_MAX } from '../../../../../shared/checkpoint.ts'
import { createPublicFetch } from '../../../../../shared/http/public-fetch.ts'
import { DEFAULT_OPTIONS } from '../../../../../shared/separation-options.ts'
import { temporaryFolder } from '../../../../support/basics/temporary-folder.ts'
import { serve } from '../../../../support/http/serve.ts'
import { noise } from '../../../../support/media/signals.ts'
import { wavBytes } from '../../../../support/media/wav.ts'
import { FakeClock } from '../../../../support/basics/fake-clock.ts'
import {
  isForTagger,
  makeJob,
  makeJobDeps,
  makeTags,
} from '../../../../support/engine/job-parts.ts'
import type { Event } from '../../../../../shared/messages.ts'
import { PLAIN_MODEL } from '../../../../support/models/plain-model.ts'

const threads = new OutputThreads()
const resampling = new ResamplingThreads()
after(() => Promise.all([threads.stop(), resampling.stop()]))

const SECONDS = 90
const RATE = 2_000
const TAGGER_CONFIG = await readTaggerConfig()

/**
 * The model's chunks depend on the previous one, have a sample rate of their own, and give
 * candidates.
 */
const MODEL: ModelDescription = {
  ...PLAIN_MODEL,
  sampleRate: 1_000,
  overlapSecondsMax: { fast: 1, balanced: 1, quality: 1 },
  needsPreviousChunk: true,
  givesCandidates: true,
}
const CHUNKS = 10
/** Time that one chunk takes: longer than CHECKPOINT_SECONDS. */
const CHUNK_MS = 5_000

/** Starts a media store that remembers what was uploaded. */
async function startStore(t: TestContext, seed = 1) {
  const held = new Map<string, Buffer>()
  const source = wavBytes([noise(SECONDS, RATE, seed)], RATE)
  const store = { held, source, refuses: null as number | null }
  const answer: RequestListener = async (request, response) => {
    const path = request.url!
    if (request.method === 'PUT') {
      const bytes = await buffer(request)
      const isRefused = store.refuses !== null && path.startsWith('/checkpoint')
      if (!isRefused) held.set(path, bytes)
      return void response.writeHead(isRefused ? store.refuses! : 200).end()
    }
    const found = path === '/source' ? store.source : held.get(path)
    response.writeHead(found ? 200 : 404).end(found)
  }
  const { url } = await serve(t, (request, response) => void answer(request, response))
  return Object.assign(store, { url })
}

type Store = Awaited<ReturnType<typeof startStore>>

const segmentsOf = ({ held }: Store) =>
  [...held.keys()].filter((path) => path.startsWith('/checkpoint')).sort()

interface Attempt {
  /** After how many chunks the attempt is interrupted, and by what. */
  interrupted?: { after: number; by: 'device' | 'kill' }
  model?: Partial<ModelDescription>
  prompt?: string
  source?: 'file' | 'url'
  hasAddresses?: boolean
  storeIsAway?: boolean
  checkpointSeconds?: string
}

/** Returns an answer that depends on everything the model gets. */
function answerOf({ request }: ChunkOrder, head: ChunkOrder['heads'][number]): HeadResult {
  const { chunk, startSample = 0 } = request
  const { prompt, candidate = 0, overlapState } = head
  const state = Math.sin(startSample + prompt.length + (overlapState?.states[0] ?? 0))
  return {
    target: chunk.channels.map((wave) => wave.map((sample) => (sample * (1 + state)) / 4)),
    score: Math.sin(1e3 * state + candidate),
    match: Math.abs(state),
    overlapState: { startSample, states: Float32Array.of(state + candidate) },
  }
}

async function attempt(t: TestContext, store: Store, attemptOptions: Attempt = {}) {
  const folder = temporaryFolder(t)
  const clock = new FakeClock()
  const stop = new AbortController()
  const seen = { events: [] as Event[], progress: [] as number[], chunks: [] as number[], tags: 0 }
  const separate = async (
    order: ChunkOrder,
    _owner: unknown,
    { onStep }: { onStep(share: number): void },
  ): Promise<HeadResult[]> => {
    const { request, heads } = order
    if (isForTagger(order)) {
      seen.tags += 1
      const tags = makeTags(TAGGER_CONFIG, request.chunk, (_, i) => (i % 3 ? -40 : 20))
      return [{ target: [], score: 0, tags }]
    }
    if (attemptOptions.interrupted?.after === seen.chunks.length) {
      if (attemptOptions.interrupted.by === 'device') throw new DeviceError('gone')
      stop.abort(new JobStoppedError('canceled')) // like a kill, sends nothing more
      stop.signal.throwIfAborted()
    }
    clock.advance(CHUNK_MS)
    seen.chunks.push(request.startSample!)
    onStep(heads.length)
    return heads.map((head) => answerOf(order, head))
  }
  const media = createJobMedia(threads)
  const settings = { CHECKPOINT_SECONDS: attemptOptions.checkpointSeconds ?? '4' }
  const deps: JobDeps = {
    ...makeJobDeps({ folder, threads, separate, settings }),
    broker: {
      publishProgress: ({ progress }) => void seen.progress.push(progress),
      publishEvent: async (event) => void seen.events.push(event),
    },
    resampling,
    media: {
      ...media,
      fetchSource: async (options) => {
        const isAway = attemptOptions.storeIsAway && options.url.includes('checkpoint')
        if (isAway) throw new SourceUnavailableError('away')
        return media.fetchSource(options)
      },
    },
    models: [{ ...MODEL, ...attemptOptions.model }],
    tagger: TAGGER_CONFIG,
    clock,
    publicFetch: createPublicFetch({ allowCidrs: ['127.0.0.0/8'] }),
  }
  const { url } = store
  const job = makeJob('r', url, {
    prompt: attemptOptions.prompt ?? 'rain',
    options: { ...DEFAULT_OPTIONS, reranking_candidates: 2, further_prompts: ['a dog'] },
    source: { kind: attemptOptions.source ?? 'file', url: `${url}/source`, file_name: '' },
    upload_urls: Object.fromEntries(
      ['target', 'target_2', 'residual', 'peaks'].map((part) => [part, `${url}/out/${part}`]),
    ),
    ...(attemptOptions.hasAddresses !== false && {
      checkpoint_urls: Array.from({ length: SEGMENTS_MAX }, (_, i) => {
        const address = `${url}/checkpoint/${String(i).padStart(2, '0')}`
        return { put: address, get: address }
      }),
    }),
  })
  const outcome = await separateJob(job, 'attempt', deps, stop.signal)
  assert.deepEqual(await readdir(folder), [], 'no file is left')
  const last = seen.events.at(-1)
  const logs = last?.logs.map(({ message }) => message).join('\n') ?? ''
  return { outcome, last, logs, ...seen }
}

type Attempted = Awaited<ReturnType<typeof attempt>>

/** Returns everything that a completed job made. */
function resultOf(store: Store, { last }: Attempted) {
  assert.ok(last?.type === 'completed', JSON.stringify(last))
  const { outputs, sounds, duration } = last
  const files = ['target', 'target_2', 'residual', 'peaks'].map((part) =>
    store.held.get(`/out/${part}`)!.toString('base64'),
  )
  return { outputs, sounds, duration, files }
}

/**
 * Returns what the job makes if nobody interrupts it and its gateway does not support checkpoints.
 */
async function makeUninterrupted(t: TestContext) {
  const store = await startStore(t)
  const attempted = await attempt(t, store, { hasAddresses: false })
  assert.equal(attempted.chunks.length, CHUNKS)
  assert.deepEqual(segmentsOf(store), [])
  return resultOf(store, attempted)
}

let expected: ReturnType<typeof resultOf> | undefined
const uninterrupted = async (t: TestContext) => (expected ??= await makeUninterrupted(t))

test('a released job resumes with its next chunk, and gives the same result', async (t) => {
  const expected = await uninterrupted(t)
  const store = await startStore(t)
  const first = await attempt(t, store, { interrupted: { after: 6, by: 'device' } })
  assert.equal(first.outcome, 'released')
  const second = await attempt(t, store)
  assert.deepEqual(second.chunks.length, CHUNKS - 6)
  assert.ok(second.chunks[0]! > first.chunks.at(-1)!)
  assert.match(second.logs, /^Resumed at 5\d %: an earlier attempt has separated so much\.$/m)
  assert.ok(second.progress[0]! > 0.5, `${second.progress[0]}`)
  assert.deepEqual(resultOf(store, second), expected)
})

test('each array of a stored result can be given away without the others', async (t) => {
  const path = join(temporaryFolder(t), 'segment')
  const wave = noise(1, 64)
  const writer = new SegmentWriter(path, 'work')
  // With one of these texts the arrays lie at multiples of four bytes, and Node would not copy them.
  for (const text of ['', 'a', 'ab', 'abc']) {
    await writer.add(encodeEntry('chunk', [text, wave, wave.slice()]))
  }
  await writer.close()
  for (const entry of (await listEntries(path, 'work'))!) {
    const [, sound, state] = (await readEntry(entry)) as [string, Float32Array, Float32Array]
    structuredClone(sound, { transfer: [sound.buffer as ArrayBuffer] })
    assert.deepEqual(state, wave)
  }
})

test('a job whose engine is killed loses what was not sent yet, and survives several interruptions', async (t) => {
  const expected = await uninterrupted(t)
  const store = await startStore(t)
  await attempt(t, store, { interrupted: { after: 5, by: 'kill' } })
  const segmentsBefore = segmentsOf(store).length
  assert.ok(segmentsBefore > 0)
  const second = await attempt(t, store, { interrupted: { after: 4, by: 'device' } })
  assert.ok(segmentsOf(store).length > segmentsBefore, 'it keeps more')
  const third = await attempt(t, store)
  assert.ok(third.chunks.length < CHUNKS - 4, `${third.chunks.length} chunks`)
  assert.ok(third.progress[0]! > second.progress[0]!)
  assert.deepEqual(resultOf(store, third), expected)
})

test('segments that are damaged, cut off or at the wrong address are separated again, and nothing else', async (t) => {
  const expected = await uninterrupted(t)
  const store = await startStore(t)
  await attempt(t, store, { interrupted: { after: 9, by: 'device' } })
  const whole = new Map(store.held)
  const paths = segmentsOf(store)
  const [first, second] = paths as [string, string]
  const cases: [string, () => void, chunksMost: number][] = [
    ['a byte', () => (store.held.get(first)![store.held.get(first)!.length - 9]! ^= 1), 3],
    ['the end', () => store.held.set(first, whole.get(first)!.subarray(0, -9)), 3],
    [
      'a late attempt', // which overwrote addresses that are in use again
      () => [first, second].map((path, i) => store.held.set(path, whole.get(paths[1 - i]!)!)),
      1,
    ],
  ]
  for (const [what, damage, chunksMost] of cases) {
    for (const [path, bytes] of whole) store.held.set(path, Buffer.from(bytes))
    damage()
    const next = await attempt(t, store)
    assert.ok(next.chunks.length <= chunksMost, `${what}: ${next.chunks.length} chunks`)
    assert.deepEqual(resultOf(store, next), expected, what)
  }
})

test("a checkpoint of other work, or one that can't be read, is not used, and the log says so", async (t) => {
  const store = await startStore(t)
  await attempt(t, store, { interrupted: { after: 6, by: 'device' } })
  const held = new Map(store.held)
  const cases: [Attempt | (() => void), RegExp][] = [
    [{ model: { weightsSha256: 'other' } }, /does not fit this one, or is damaged/],
    [{ prompt: 'thunder' }, /does not fit this one, or is damaged/],
    [() => store.held.set(segmentsOf(store)[0]!, Buffer.from('no segment')), /or is damaged/],
    [{ storeIsAway: true }, /could not be read/],
  ]
  for (const [changed, problem] of cases) {
    for (const [path, bytes] of held) store.held.set(path, bytes)
    if (typeof changed === 'function') changed()
    const next = await attempt(t, store, typeof changed === 'function' ? {} : changed)
    assert.equal(next.chunks.length, CHUNKS)
    assert.match(next.logs, problem)
    assert.match(next.logs, /This attempt began at 0 %\./)
    assert.equal(next.outcome, 'completed')
  }
})

test("media at a client's address that changed meanwhile is separated anew", async (t) => {
  const store = await startStore(t)
  const url = { source: 'url' } as const
  await attempt(t, store, { ...url, interrupted: { after: 6, by: 'device' } })
  store.source = (await startStore(t, 2)).source
  assert.equal((await attempt(t, store, url)).chunks.length, CHUNKS)
})

test('a store that refuses checkpoints costs the job nothing', async (t) => {
  const expected = await uninterrupted(t)
  for (const status of [503, 409]) {
    const store = await startStore(t)
    store.refuses = status
    const attempted = await attempt(t, store)
    assert.deepEqual(segmentsOf(store), [])
    assert.deepEqual(resultOf(store, attempted), expected)
  }
})

test('CHECKPOINT_SECONDS=off stores nothing', async (t) => {
  const store = await startStore(t)
  const off = { checkpointSeconds: 'off' }
  await attempt(t, store, { ...off, interrupted: { after: 6, by: 'device' } })
  assert.deepEqual(segmentsOf(store), [])
})
