/** How a job ends when the device, the store or the broker fails. */

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import test, { after, type TestContext } from 'node:test'
import {
  DeviceError,
  LaneTooLargeError,
  ModelError,
  NativeError,
} from '../../../../engine/compute/compute-errors.ts'
import { OutputThreads } from '../../../../engine/job/outputs/output-threads.ts'
import { separateJob, type JobDeps } from '../../../../engine/job/separate-job.ts'
import { SourceUnavailableError } from '../../../../engine/media/read/source.ts'
import { soundsOptions } from '../../../../shared/request-kind.ts'
import { DEFAULT_OPTIONS, type SeparationOptions } from '../../../../shared/separation-options.ts'
import { readTaggerConfig } from '../../../../models/tagger/config.ts'
import type { Event, Progress } from '../../../../shared/messages.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { isForTagger, makeJob, makeJobDeps, makeTags } from '../../../support/engine/job-parts.ts'
import { makeMedia, type Tracks } from '../../../support/media/make-media.ts'
import { noise } from '../../../support/media/signals.ts'
import { wavBytes } from '../../../support/media/wav.ts'
import { serve } from '../../../support/http/serve.ts'

type Report = Pick<Progress, 'progress' | 'seconds_at_least'>

const threads = new OutputThreads()
after(() => threads.stop())

const WAV = wavBytes([noise(1, 8_000)], 8_000)
const giveSource: RequestListener = (_, response) => void response.end(WAV)
const takeOutput: RequestListener = (request, response) =>
  void request.resume().on('end', () => response.end())
const away: RequestListener = (_, response) => void response.writeHead(503).end()

const TAGGER_CONFIG = await readTaggerConfig()

interface Setting {
  /** The media store's responses, in turn. */
  answers?: RequestListener[]
  fails?: Error
  tries?: number
  /** Whether the store is unreachable when the failed job asks for it. */
  storeIsAway?: boolean
  /** Whether the scratch disk is full even without the job's own files. */
  scratchIsFull?: boolean
  mediaSecondsMax?: number
  options?: Partial<SeparationOptions>
  /** Whether the job asks for a list of sounds. */
  lists?: boolean
  publish?: (event: Event) => Promise<void>
}

/** Serves one job; returns its outcome and what was reported. */
async function serveJob(t: TestContext, setting: Setting, signal = new AbortController().signal) {
  const {
    answers = [giveSource, takeOutput],
    fails,
    tries = 1,
    storeIsAway = false,
    scratchIsFull = false,
    mediaSecondsMax = 60,
    options = {},
    publish,
  } = setting
  const { url } = await serve(t, ...answers)
  const folder = temporaryFolder(t)
  const seen = {
    events: [] as Event[],
    reports: [] as Report[],
    deviceFailed: 0,
    failures: 0,
    successes: 0,
  }
  const separate: Parameters<typeof makeJobDeps>[0]['separate'] = async (
    order,
    _,
    { onStep, onServed },
  ) => {
    onServed?.(0.25)
    if (fails) throw fails
    onStep(1)
    const { chunk } = order.request
    const sure = (name: string) => (name === 'rain' ? 40 : -40)
    if (isForTagger(order)) {
      return [{ target: [], score: 0, tags: makeTags(TAGGER_CONFIG, chunk, sure) }]
    }
    return [{ target: chunk.channels, score: 0 }]
  }
  const settings = { MEDIA_SECONDS_MAX: String(mediaSecondsMax) }
  const deps: JobDeps = {
    ...makeJobDeps({ folder, threads, separate, settings }),
    broker: {
      publishProgress: (report) => void seen.reports.push(report),
      async publishEvent(event) {
        await publish?.(event)
        seen.events.push(event)
      },
    },
    attempts: tries,
    tagger: setting.lists ? TAGGER_CONFIG : null,
    store: {
      reportFailure: () => void (seen.failures += 1),
      reportSuccess: () => void (seen.successes += 1),
      isAway: async () => storeIsAway,
    },
    scratch: {
      async isFull() {
        assert.deepEqual(await readdir(folder), [], 'the files of the job are gone')
        return scratchIsFull
      },
    },
    onDeviceFailed: () => void (seen.deviceFailed += 1),
  }
  const job = makeJob('r', url, {
    options: { ...DEFAULT_OPTIONS, ...options },
    ...(setting.lists && { options: soundsOptions({}), upload_urls: {} }),
  })
  const outcome = await separateJob(job, 'attempt', deps, signal)
  return { outcome, ...seen, last: seen.events.at(-1) }
}

test('an attempt reports the device seconds that it used, however it ends', async (t) => {
  const { events } = await serveJob(t, {})
  assert.equal(events[0]?.device_seconds, undefined)
  assert.deepEqual([events.at(-1)?.type, events.at(-1)?.device_seconds], ['completed', 0.25])
  const { last } = await serveJob(t, { fails: new DeviceError('gone') })
  assert.deepEqual([last?.type, last?.device_seconds], ['released', 0.25])
})

const FULL = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
const AWAY = new SourceUnavailableError('away')
/** What fails, at which attempt, what else is wrong, and how the attempt ends. */
const FAILURES: [Error, number, Partial<Setting>, string][] = [
  [new DeviceError('gone'), 5, {}, 'released interruption'],
  [new ModelError('no sample'), 1, {}, 'failed MODEL_FAILED'],
  [new NativeError('of unknown cause'), 1, {}, 'released interruption'],
  [new NativeError('of unknown cause'), 2, {}, 'failed MODEL_FAILED'],
  [new LaneTooLargeError('OOM'), 1, {}, 'released interruption'],
  [new LaneTooLargeError('OOM'), 2, {}, 'failed CHUNK_TOO_LARGE'],
  [new Error('a bug'), 1, {}, 'released interruption'],
  [new Error('a bug'), 2, {}, 'failed MODEL_FAILED'],
  [FULL, 5, { scratchIsFull: true }, 'released outage'],
  [FULL, 5, { scratchIsFull: false }, 'released interruption'], // the job itself fills the disk
  [AWAY, 5, { storeIsAway: true }, 'released outage'],
  [AWAY, 5, { storeIsAway: false }, 'released interruption'],
]
for (const [fails, tries, trouble, end] of FAILURES) {
  test(`attempt ${tries} with ${fails.name}: ${fails.message} ends as ${end}`, async (t) => {
    const { outcome, last, deviceFailed } = await serveJob(t, { fails, tries, ...trouble })
    if (last?.type === 'released') assert.equal(`released ${last.cause}`, end)
    else assert.equal(last?.type === 'failed' && `failed ${last.error.code}`, end)
    assert.equal(outcome, last?.type)
    assert.equal(deviceFailed, fails instanceof DeviceError ? 1 : 0, 'its engine is notified')
  })
}

/** Lists the types of events, with the length of the media if an event states it. */
const measuredIn = (events: readonly Event[]) =>
  events.map((event) => [event.type, 'duration' in event ? event.duration : undefined])

test('media of more samples than allowed is refused once it is measured', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] }) // gives the measurement all the time it needs
  const dense = wavBytes([noise(0.6, 768_000)], 768_000)
  const { events } = await serveJob(t, {
    answers: [(_, response) => void response.end(dense)],
    mediaSecondsMax: 1,
    fails: new Error('nothing is decoded'),
  })
  assert.deepEqual(measuredIn(events), [
    ['started', 0.6],
    ['failed', undefined],
  ])
  assert.deepEqual(events.at(-1)?.logs, []) // decoding begins by logging what it decodes
})

test('a job that asks what is in media reports the sounds, and stores nothing', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] }) // gives the measurement all the time it needs
  const { outcome, events, reports, successes } = await serveJob(t, {
    lists: true,
    answers: [giveSource, away],
  })
  assert.equal(outcome, 'completed')
  assert.deepEqual(measuredIn(events), [
    ['started', 1],
    ['completed', 1],
  ])
  assert.ok(events.every((event) => !('output_bytes' in event)))
  const last = events.at(-1)
  assert.ok(last?.type === 'completed' && last.outputs === undefined)
  assert.deepEqual(
    last.sounds?.map(({ name }) => name),
    ['rain'],
  )
  assert.deepEqual(last.sounds?.[0]?.spans, [{ start: 0, end: 1 }])
  assert.equal(successes, 1, 'the store was asked for the source alone')
  assert.ok(reports.length > 0)
})

test('the start states the length of the media', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] }) // gives the measurement all the time it needs
  const { events } = await serveJob(t, {})
  assert.deepEqual(measuredIn(events), [
    ['started', 1],
    ['completed', 1],
  ])
  assert.ok(events[0]?.type === 'started' && events[0].output_bytes! > 0)
})

test('the start does not wait for slow media', async (t) => {
  let started!: () => void
  const isStarted = new Promise<void>((resolve) => (started = resolve))
  const publish = async ({ type }: Event) => {
    if (type === 'started') started()
  }
  const giveLate: RequestListener = (_, response) => void isStarted.then(() => response.end(WAV))
  const { events } = await serveJob(t, { answers: [giveLate, takeOutput], publish })
  const types = events.map(({ type }) => type)
  assert.deepEqual(types, ['started', 'measured', 'completed'])
})

test('a job that fails before its media is measured still reports its start first', async (t) => {
  const notFound: RequestListener = (_, response) => void response.writeHead(404).end()
  const { events } = await serveJob(t, { answers: [notFound] })
  assert.deepEqual(
    events.map(({ type }) => type),
    ['started', 'failed'],
  )
})

/** Answers with media for the source, and takes the outputs. */
async function mediaStore(t: TestContext, ...media: [string, Tracks]): Promise<RequestListener[]> {
  const path = join(temporaryFolder(t), 'source')
  await makeMedia(path, ...media)
  const bytes = await readFile(path)
  return [(_, response) => void response.end(bytes), takeOutput]
}

test('a job uses the track that its options name, and its logs say so', async (t) => {
  const mono = (seed: number) => ({ planes: [noise(1, 8_000, seed)], sampleRate: 8_000 })
  const audio = [1, 2].map((seed) => ({ ...mono(seed), encoder: 'pcm_s16le' }))
  const answers = await mediaStore(t, 'mov', { audio })
  const logsOf = async (audio_track?: number) => {
    const options = audio_track === undefined ? {} : { audio_track }
    const { last } = await serveJob(t, { answers, options })
    assert.ok(last)
    const failure = last.type === 'failed' ? last.error.message : ''
    return failure + last.logs.map(({ message }) => message).join('\n')
  }
  assert.match(await logsOf(), /2 channels[^]*2 tracks of one channel each/)
  assert.match(await logsOf(2), /1 channel\.[^]*Track 2 .* is separated; left out: 1 /)
  assert.match(await logsOf(3), /has 2 tracks of sound, so audio_track can't be 3/)
})

test("an output that the store can't take is sent again, and the outage is recorded", async (t) => {
  const { outcome, failures, successes } = await serveJob(t, {
    answers: [giveSource, away, takeOutput],
  })
  assert.deepEqual([outcome, failures, successes], ['completed', 1, 4])
})

test('the start and the outcome are published again until they are stored', async (t) => {
  const ends: [string, Setting][] = [
    ['started', {}],
    ['completed', {}],
    ['failed', { fails: new ModelError('no') }],
  ]
  for (const [type, setting] of ends) {
    let tries = 0
    const publish = async (event: Event) => {
      if (event.type !== type) return
      tries += 1
      if (tries === 1) throw new Error('no answer from the broker')
    }
    const { outcome, events } = await serveJob(t, { ...setting, publish })
    assert.equal(outcome, setting.fails ? 'failed' : 'completed')
    assert.equal(events[0]?.type, 'started')
    assert.equal(tries, 2)
  }
})

test("a job stopped while its outcome can't be stored ends at once", async (t) => {
  const stop = new AbortController()
  const publish = async (event: Event) => {
    if (event.type !== 'completed') return
    stop.abort(new Error('released'))
    throw new Error('no answer from the broker')
  }
  const { outcome, last } = await serveJob(t, { publish }, stop.signal)
  assert.deepEqual([outcome, last?.type], ['released', 'released'])
})

test('re-encoding a picture counts toward progress and the time left', async (t) => {
  const answers = await mediaStore(t, 'webm', {
    audio: { planes: [noise(4, 48_000)], sampleRate: 48_000, encoder: 'libopus' },
    video: { seconds: 4, encoder: 'libvpx' },
  })
  const { outcome, reports } = await serveJob(t, { answers })
  assert.equal(outcome, 'completed')
  const parts = reports.map(({ progress }) => progress)
  assert.deepEqual(
    parts,
    [...parts].sort((a, b) => a - b),
  )
  assert.ok(parts.at(-1)! >= 0.5, 'that of the sound, or, if it ends later, of the picture')
  const coding = reports.filter(({ seconds_at_least: seconds }) => seconds! > 0)
  assert.ok(coding.length >= 39, `${coding.length} reports of 40 pictures`)
  assert.equal(reports.at(-1)!.seconds_at_least, undefined)
})
