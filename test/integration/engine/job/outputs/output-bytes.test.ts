/** Outputs take no more space than was reserved for them. */

import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { predictOutputBytes } from '../../../../../engine/job/outputs/output-bytes.ts'
import { OutputThreads } from '../../../../../engine/job/outputs/output-threads.ts'
import { Outputs } from '../../../../../engine/job/outputs/outputs.ts'
import { temporaryFolder } from '../../../../support/basics/temporary-folder.ts'
import { makeMedia } from '../../../../support/media/make-media.ts'
import { plainPlan } from '../../../../support/engine/plain-plan.ts'
import { noise } from '../../../../support/media/signals.ts'

const NAMES = ['target', 'residual'] as const

const threads = new OutputThreads()
after(() => threads.stop())

async function bothSizes(folder: string, fields: object, videoPath: string | null = null) {
  const { format, sampleRate, channels, seconds } = {
    ...{ format: 'wav' as const, sampleRate: 48_000, channels: 2, seconds: 1 },
    ...fields,
  }
  const options = {
    names: NAMES,
    folder,
    encoding: { format, sampleRate, channels },
    videoPath,
    soundIndex: 1,
    hasPreview: true,
    signal: new AbortController().signal,
    log: () => undefined,
    onVideoProgress: () => undefined,
  }
  const outputs = await Outputs.open(options, threads)
  const planes = Array.from({ length: channels }, (_, i) => noise(i + 1, seconds * sampleRate))
  const mixture = planes.map((plane) => plane.map((x) => 2 * x))
  const sounds = [planes.map((plane) => plane.slice())]
  await outputs.write({ mixture, sounds, plan: plainPlan(1) })
  let actual = 0
  await outputs.finish(async (_part, path) => {
    const { size } = await stat(path)
    actual += size
    return undefined
  })
  const predicted = predictOutputBytes({
    count: NAMES.length,
    seconds,
    format,
    sampleRate,
    channels,
    videoBytes: videoPath === null ? 0 : (await stat(videoPath)).size,
    coverBytes: 0,
    hasPreview: true,
  })
  return { actual, predicted }
}

test('outputs of noise, in every format and with a picture, take no more space than predicted', async (t) => {
  const folder = temporaryFolder(t)
  const video = join(folder, 'source.mp4')
  await makeMedia(video, 'mp4', {
    audio: { planes: [noise(1, 48_000)], sampleRate: 48_000, encoder: 'aac' },
    video: { seconds: 1, encoder: 'libx264' },
  })
  const cases: [object, string | null][] = [
    [{ seconds: 5, channels: 8 }, null],
    [{ format: 'flac', seconds: 3 }, null],
    [{ format: 'mp3', seconds: 3, sampleRate: 44_100 }, null],
    [{ format: 'wav', channels: 1, sampleRate: 8_000 }, video],
  ]
  for (const [fields, videoPath] of cases) {
    const { actual, predicted } = await bothSizes(folder, fields, videoPath)
    assert.ok(actual <= predicted, `${JSON.stringify(fields)}: ${actual} of ${predicted}`)
  }
  const { actual, predicted } = await bothSizes(folder, { seconds: 20 })
  assert.ok(actual > 0.9 * predicted, `little is reserved in vain: ${actual} of ${predicted}`)
})
