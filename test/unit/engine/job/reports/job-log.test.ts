import assert from 'node:assert/strict'
import test from 'node:test'
import { findingOf } from '../../../../../engine/job/findings/findings.ts'
import {
  describeMixture,
  describeStored,
  describeWork,
  mergedSpans,
  type ChunkWork,
} from '../../../../../engine/job/reports/job-log.ts'
import type { ModelDescription } from '../../../../../models/model.ts'
import {
  DEFAULT_OPTIONS,
  type SeparationOptions,
} from '../../../../../shared/separation-options.ts'

const model = {
  name: 'mini',
  passes: { fast: 'one pass', balanced: 'one pass', quality: 'four passes' },
  givesCandidates: true,
  predictsSpans: true,
  fixedChunks: null,
} as ModelDescription

const chunk = (startSecond: number, more: Partial<ChunkWork> = {}): ChunkWork => ({
  startSecond,
  endSecond: startSecond + 10,
  scores: [0.5, 0.75],
  chosen: 1,
  match: undefined,
  presenceGain: undefined,
  predictedSpans: undefined,
  meanings: undefined,
  understoodAs: undefined,
  substitute: undefined,
  nearest: undefined,
  ...more,
})

/** A chunk for which spans of the form `2-3` were predicted. */
const spanned = (startSecond: number, ...spans: string[]) =>
  chunk(startSecond, { predictedSpans: spans.map((text) => spanOf(text)) })

function spanOf(text: string, include = true) {
  const [start, end] = text.split('-').map(Number) as [number, number]
  return { start, end, include }
}

const pass = (samples: number) => ({
  model,
  samples,
  sampleRate: 1_000,
  plan: { chunkSamples: 10_000, overlapSamples: 1_000, frameSamples: 1 },
})

const promptWork = (prompt: string, work: ChunkWork[]) => ({
  ...{ prompt, model, work },
  finding: findingOf({ work, tagged: null }),
})

const logged = (options: Partial<SeparationOptions>, work = [chunk(0), chunk(9)]) =>
  describeWork({ ...DEFAULT_OPTIONS, ...options }, [pass(19_000)], [promptWork('A dog.', work)])

test('candidates with their scores, for at most a dozen chunks', () => {
  const lines = logged(
    { reranking_candidates: 2, acceleration: 'quality' },
    Array.from({ length: 40 }, (_, i) => chunk(9 * i)),
  )
  assert.deepEqual(lines.slice(0, 2), [
    'Separated 19.00 s with mini in 2 chunks of 10.00 s overlapping by 1.00 s; quality: four passes.',
    'Made 2 candidates of every chunk and kept the one that the model scored highest.',
  ])
  assert.equal(lines[2], 'Chunk 1: candidate 2 was kept; scores 0.5000, 0.7500.')
  assert.equal(lines.at(-1), 'Not listed: 28 more chunks.')
  assert.equal(lines.length, 15)
})

test('lines about one of several prompts begin with it', () => {
  const options = { ...DEFAULT_OPTIONS, reranking_candidates: 2 }
  const prompts = [
    promptWork('drums', [chunk(0, { match: 0.9 })]),
    promptWork('a voice', [chunk(0, { match: 0.2 })]),
  ]
  const lines = describeWork(options, [pass(10_000)], prompts)
  assert.deepEqual(lines, [
    'Separated 10.00 s with mini in one chunk; balanced: one pass.',
    '"drums": The match of the requested sound is 0.90 of 1.',
    '"drums": Made 2 candidates of every chunk and kept the one that the model scored highest.',
    '"drums": Chunk 1: candidate 2 was kept; scores 0.5000, 0.7500.',
    '"a voice": It is uncertain whether the sound is there: its match is 0.20 of 1. ' +
      'What was found is in the target all the same.',
    '"a voice": Made 2 candidates of every chunk and kept the one that the model scored highest.',
    '"a voice": Chunk 1: candidate 2 was kept; scores 0.5000, 0.7500.',
  ])
})

test('given spans, and that they make predict_spans ignored', () => {
  const spans = [spanOf('1-2.5'), spanOf('3-4', false)]
  assert.deepEqual(logged({ spans, predict_spans: true }).slice(1), [
    'Used 2 given spans: 1.00 to 2.50 s (sounds), 3.00 to 4.00 s (does not sound).',
    'predict_spans was ignored because spans were given.',
  ])
})

test('predicted spans, in media time, joined across chunks', () => {
  const work = [spanned(0, '2-3', '9.5-10'), spanned(9, '0-2')]
  assert.deepEqual(mergedSpans(work), [
    { start: 2, end: 3 },
    { start: 9, end: 11 },
  ])
  const [, line] = logged({ predict_spans: true }, work)
  assert.match(line ?? '', /Predicted 2 spans .*: 2\.00 to 3\.00 s, 9\.00 to 11\.00 s\./)
})

test('that a sound is absent, from a chunk or altogether', () => {
  const last = (...work: ChunkWork[]) => logged({ predict_spans: true }, work).at(-1)!
  assert.match(
    last(spanned(0, '2-3'), spanned(9)),
    /seems absent from 1 chunk, .*9\.00 to 19\.00 s/,
  )
  assert.match(last(spanned(0), spanned(9)), /Nothing was silenced/)
})

test('how well the sound matches, that it seems absent, and by how much the target was softened', () => {
  const unsure = 'It is uncertain whether the sound is there: its match is'
  const kept = 'of 1. What was found is in the target all the same'
  const matches = 'The match of the requested sound is'
  const line = (...chunks: Partial<ChunkWork>[]) =>
    logged(
      {},
      chunks.map((more, i) => chunk(9 * i, more)),
    )[1]
  const soft = { match: 0.06, presenceGain: 0.063 }
  const absent = 'it seems absent from 1 chunk of 2'
  assert.equal(line({ match: 0.97 }, { match: 0.6 }), `${matches} 0.94 of 1.`)
  assert.equal(line({ match: 0.2 }, { match: 0.97 }), `${matches} 0.94 of 1; ${absent}.`)
  assert.equal(line({ match: 0.2 }, { match: 0.1 }), `${unsure} 0.15 ${kept}.`)
  assert.equal(line(soft), `${unsure} 0.06 ${kept}, up to 24 dB softer.`)
  assert.equal(
    line(soft, { match: 0.9, presenceGain: 1 }),
    `${matches} 0.82 of 1; ${absent}, up to 24 dB softer.`,
  )
})

test('what the prompt was taken to mean, or what the target is if no name is close', () => {
  const meanings = [
    { name: 'vacuum cleaner', probability: 0.784 },
    { name: 'water', probability: 0.18 },
  ]
  const meant = (more: object, options = {}) =>
    logged(options, [{ ...chunk(0), meanings, ...more }]).slice(1)
  const taken = ['The prompt is taken to mean: vacuum cleaner (0.78), water (0.18).']
  assert.deepEqual(meant({}), taken)
  assert.deepEqual(meant({ understoodAs: 'vacuum cleaner' }), taken)
  assert.deepEqual(meant({ meanings: [] }), [])
  const far = 'The model has no name that is near the prompt. The target holds'
  assert.deepEqual(meant({ understoodAs: null }), [`${far} vacuum cleaner instead.`])
  const known = { substitute: 'everything but speech', nearest: ['vacuum cleaner', 'water'] }
  assert.deepEqual(meant({ understoodAs: null, ...known }, { predict_spans: true }), [
    `${far} everything but speech instead. The nearest names: vacuum cleaner, water.`,
    'No span was predicted, because no name is near the prompt.',
  ])
})

test('what was decoded and mixed down, and what was stored', () => {
  const mixture = {
    codec: 'aac',
    container: 'mov',
    sampleRate: 48_000,
    sourceSampleRate: 96_000,
    channels: 1,
    sourceChannels: 6,
    hasVideo: true,
    trackRemarks: ['The file has 2 tracks.'],
  } as unknown as Parameters<typeof describeMixture>[0]
  assert.deepEqual(describeMixture(mixture), [
    'Decoding aac in mov, with a picture: 48000 Hz (from 96000 Hz), 1 channel, mixed down from 6.',
    'The file has 2 tracks.',
  ])
  const file = { content_type: 'audio/mpeg', extension: 'mp3', bytes: 1 }
  const stereo = { sampleRate: 48_000, channels: 2 }
  assert.equal(
    describeStored({ target: file, residual: file, gain_db: 0 }, stereo, stereo),
    'Stored target and residual as mp3.',
  )
  const withVideo = { ...file, video: file }
  assert.equal(
    describeStored({ target: withVideo, residual: withVideo, gain_db: 0 }, stereo, {
      sampleRate: 96_000,
      channels: 6,
    }),
    'Stored target and residual as mp3 at 48000 Hz, mixed down to 2 channels, ' +
      'and a video with the target and one with the residual.',
  )
})
