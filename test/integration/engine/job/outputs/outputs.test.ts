import assert from 'node:assert/strict'
import { readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { OutputThreads } from '../../../../../engine/job/outputs/output-threads.ts'
import type { SeparatedSounds } from '../../../../../engine/job/outputs/mix.ts'
import { Outputs } from '../../../../../engine/job/outputs/outputs.ts'
import { ThreadLostError } from '../../../../../engine/threads/task-thread.ts'
import type { VideoProgress } from '../../../../../engine/media/write/video-progress.ts'
import type { OutputName } from '../../../../../shared/messages.ts'
import { temporaryFolder } from '../../../../support/basics/temporary-folder.ts'
import { plainPlan } from '../../../../support/engine/plain-plan.ts'
import { makeMedia, type VideoTrack } from '../../../../support/media/make-media.ts'
import { concatenate, noise } from '../../../../support/media/signals.ts'
import { readSound } from '../../media/read-sound.ts'
import { readWav24, wavBytes } from '../../../../support/media/wav.ts'

const RATE = 16_000
const planes = [noise(1, RATE)]

const threads = new OutputThreads()
after(() => threads.stop())

const folder = temporaryFolder({ after })

const NAMES: readonly OutputName[] = ['target', 'residual']
/** Makes a mixture whose target and residual both equal `wave`. */
const soundsEqualTo = (wave: Float32Array = planes[0]!): SeparatedSounds => ({
  mixture: [wave.map((x) => 2 * x)],
  sounds: [[wave.slice()]],
  plan: plainPlan(1),
})

interface Options {
  format?: 'wav' | 'flac'
  hasPreview?: boolean
  signal?: AbortSignal
  into?: string
}

function openOutputs(
  videoPath: string | null,
  {
    format = 'wav',
    hasPreview = false,
    signal = new AbortController().signal,
    into = folder,
  }: Options = {},
) {
  const lines: string[] = []
  const pictures: VideoProgress[] = []
  const options = {
    folder: into,
    encoding: { format, sampleRate: RATE, channels: 1 },
    names: NAMES,
    videoPath,
    soundIndex: 1,
    hasPreview,
    signal,
    log: (line: string) => lines.push(line),
    onVideoProgress: (progress: VideoProgress) => pictures.push(progress),
  }
  const opened = Outputs.open(options, threads)
  return { opened, lines, pictures }
}

/** Makes a second of sound with a picture. */
async function makeVideo(name: string, container: string, video: Partial<VideoTrack>) {
  const path = join(folder, name)
  await makeMedia(path, container, {
    audio: { planes: [noise(1, 44_100)], sampleRate: 44_100, encoder: 'aac' },
    video: { seconds: 1, encoder: 'libx264', ...video },
  })
  return path
}

test('each file is stored once it is complete: sound, and video if there is a picture', async () => {
  const { opened, pictures } = openOutputs(await makeVideo('source.mp4', 'mp4', {}))
  const outputs = await opened
  await outputs.write(soundsEqualTo())
  const bytesOf = new Map<string, number>()
  const { target, residual } = await outputs.finish(async (part, file) => {
    bytesOf.set(part, (await stat(file)).size)
    return 'a-place'
  })
  const parts = ['peaks', 'residual', 'residual_video', 'target', 'target_video']
  assert.deepEqual([...bytesOf.keys()].sort(), parts)
  assert.equal(target.bytes, bytesOf.get('target'))
  assert.equal(residual.video?.bytes, bytesOf.get('residual_video'))
  assert.deepEqual([target.place, residual.video?.place], ['a-place', 'a-place'])
  assert.deepEqual([target.content_type, target.video?.content_type], ['audio/wav', 'video/mp4'])
  assert.deepEqual(pictures, [{ done: 1 }], 'a copied picture leaves nothing to encode')
})

test("a picture that can't be processed does not cost the sound, and is logged", async () => {
  const noPicture = join(folder, 'source.wav')
  await writeFile(noPicture, wavBytes(planes, RATE))
  const large = { seconds: 0.1, encoder: 'flv', width: 4104, height: 2304 }
  for (const [path, reason] of [
    [noPicture, /No video could be made, so there is sound only/],
    [
      await makeVideo('large.flv', 'flv', large),
      /sound only: a picture of 4104 x 2304 is too large/,
    ],
  ] as const) {
    const { opened, lines } = openOutputs(path)
    const outputs = await opened
    await outputs.write(soundsEqualTo())
    const parts: string[] = []
    const { target, residual } = await outputs.finish(async (part) => {
      parts.push(part)
      return undefined
    })
    assert.deepEqual(parts.sort(), ['peaks', 'residual', 'target'])
    assert.deepEqual([target.video, residual.video], [undefined, undefined])
    assert.match(lines.join('\n'), reason)
  }
})

test('an error of storing is thrown once all work has stopped', async () => {
  const outputs = await openOutputs(null).opened
  await outputs.write(soundsEqualTo())
  await assert.rejects(
    outputs.finish(() => Promise.reject(new Error('away'))),
    /away/,
  )
  await outputs.abort()
})

test('outputs whose thread has ended are lost, which is not the fault of their job', async () => {
  const own = new OutputThreads()
  const encoding = { format: 'wav', sampleRate: RATE, channels: 1 } as const
  const what = { hasPreview: false, isLive: false, hasTracks: false }
  const options = { names: NAMES, folder, encoding, ...what }
  const sounds = await own.open(options, new AbortController().signal)
  await own.stop()
  await assert.rejects(sounds.finish(), ThreadLostError)
  await own.stop()
})

test('a failure at the end leaves no file open', async (t) => {
  const own = temporaryFolder(t)
  const outputs = await openOutputs(null, { hasPreview: true, into: own }).opened
  await outputs.write(soundsEqualTo(new Float32Array(2 ** 21).fill(2))) // more than memory may hold
  await rm(own, { recursive: true }) // the end rewrites files whose samples clip
  await assert.rejects(outputs.finish(() => Promise.resolve(undefined)))
  await outputs.abort()
  const opened = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  )
  assert.deepEqual(
    opened.filter((path) => path.startsWith(own)),
    [],
  )
})

test('aborting in the middle of a picture stops everything', async () => {
  const path = join(folder, 'long.webm')
  await makeMedia(path, 'webm', {
    audio: { planes: [noise(1, 48_000)], sampleRate: 48_000, encoder: 'libopus' },
    video: { seconds: 60, encoder: 'libvpx' },
  })
  const outputs = await openOutputs(path).opened
  await outputs.write(soundsEqualTo())
  await outputs.abort()
  await assert.rejects(stat(join(folder, 'target')), { code: 'ENOENT' })
})

test('the peaks of the mixture and every output are stored last', async () => {
  const outputs = await openOutputs(null).opened
  await outputs.write(soundsEqualTo())
  let text = ''
  const stored = await outputs.finish(async (part, file, contentType) => {
    if (part === 'peaks') text = `${contentType} ${await readFile(file, 'utf8')}`
    return part === 'peaks' ? 'a-place' : undefined
  })
  assert.match(text, /^application\/json \{"mixture":/)
  assert.equal(stored.peaks?.bytes, text.length - 'application/json '.length)
  assert.deepEqual([stored.peaks?.place, stored.target.place], ['a-place', undefined])
})

for (const format of ['wav', 'flac'] as const) {
  test(`if one output of ${format} clips near the end, all are lowered alike, from the first sample`, async () => {
    const path = await makeVideo('loud.mp4', 'mp4', {})
    const outputs = await openOutputs(path, { hasPreview: true, format }).opened
    const [quiet, loud] = [Float32Array.of(0.5, -0.25), Float32Array.of(-2, 1)]
    await outputs.write(soundsEqualTo(quiet))
    const both = quiet.map((x, i) => x + loud[i]!)
    await outputs.write({ mixture: [both], sounds: [[quiet.slice()]], plan: plainPlan(1) })
    let peaksText = ''
    const stored = await outputs.finish(async (part, file) => {
      if (part === 'peaks') peaksText = await readFile(file, 'utf8')
      return undefined
    })
    assert.equal(stored.gain_db, -6.03)
    const gain = 10 ** (-6.03 / 20)
    for (const [name, last] of [
      ['target', quiet],
      ['residual', loud],
    ] as const) {
      const [plane] = (await readSound(join(folder, name))).planes
      const expected = concatenate([quiet, last]).map((x) => gain * x)
      for (const [i, sample] of plane!.entries()) {
        assert.ok(Math.abs(sample - expected[i]!) <= 2 ** -24 + 2 ** -25, `${name} ${i}: ${sample}`)
      }
    }
    assert.ok(stored.target.video, 'the track of the video is coded again too')
    const peaks = JSON.parse(peaksText)
    assert.deepEqual(peaks.residual.data, [Math.round(-2 * gain * 127), Math.round(gain * 127)])
    assert.deepEqual(peaks.mixture.data, [Math.round(-1.5 * gain * 127), Math.round(gain * 127)])
    assert.deepEqual(
      (await readdir(folder)).filter((file) => file.endsWith('_samples')),
      [],
    )
  })
}

test('outputs that do not clip are stored as they are', async () => {
  const outputs = await openOutputs(null).opened
  await outputs.write(soundsEqualTo(Float32Array.of(1, -1, 0.5)))
  const { gain_db: gainDb } = await outputs.finish(() => Promise.resolve(undefined))
  assert.equal(gainDb, 0)
  const [plane] = readWav24(await readFile(join(folder, 'target'))).planes
  assert.deepEqual([...plane!], [1 - 2 ** -23, -1, 0.5])
})

test('aborting while the files are rewritten stops the work', async () => {
  const stop = new AbortController()
  const outputs = await openOutputs(null, { signal: stop.signal }).opened
  await outputs.write(soundsEqualTo(Float32Array.of(2)))
  stop.abort(new Error('canceled'))
  await assert.rejects(
    outputs.finish(() => Promise.resolve(undefined)),
    /canceled/,
  )
  await outputs.abort()
})
