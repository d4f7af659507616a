/**
 * Video work that needs too many resources or is canceled ends without affecting the process that
 * waits for it.
 */

import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { test } from 'node:test'
import type { ProcessLimits } from '../../../../engine/media/process/limited-process.ts'
import { VIDEO_LIMITS, VideoProcess } from '../../../../engine/media/process/video-process.ts'
import { noise } from '../../../support/media/signals.ts'
import { mediaFolder } from './read-sound.ts'

const { make } = mediaFolder()

interface Work {
  width?: number
  height?: number
  limits?: Partial<ProcessLimits>
  signal?: AbortSignal
}

/** Starts re-encoding a video, because MP4 can't hold its codec. */
async function begin({
  width = 64,
  height = 48,
  limits,
  signal = new AbortController().signal,
}: Work) {
  const path = await make('p.flv', 'flv', {
    audio: { planes: [noise(1, 44_100)], sampleRate: 44_100, encoder: 'aac' },
    video: { seconds: 0.3, encoder: 'flv', width, height },
  })
  const pictures = new VideoProcess(dirname(path), signal, { ...VIDEO_LIMITS, ...limits })
  return { pictures, preparing: pictures.prepare({ path, folder: dirname(path) }) }
}

test('pictures of many pixels are not re-encoded', async () => {
  const { pictures, preparing } = await begin({ width: 4104, height: 2304 })
  await assert.rejects(preparing, /a picture of 4104 x 2304 is too large/)
  pictures.close()
  const most = await begin({ width: 320, height: 240 })
  assert.equal((await most.preparing).codec, 'flv1')
  most.pictures.close()
})

test('exceeding the memory limit ends the work', async () => {
  const large = { width: 4096, height: 2304 }
  const { pictures, preparing } = await begin({ ...large, limits: { bytesMax: 200 * 2 ** 20 } })
  await assert.rejects(preparing, /FFmpeg could not|more than 200 MiB of memory/)
  pictures.close()
})

test("a process that can't start is not blamed on the video", async () => {
  const { preparing } = await begin({ limits: { bytesMax: 64 * 2 ** 20 } })
  await assert.rejects(preparing, /its process ended before it was ready/)
})

test('exceeding the time limit ends the work', async () => {
  const { preparing } = await begin({ limits: { secondsMax: 0 } })
  await assert.rejects(preparing, /takes longer than 0 s/)
})

test('aborted work ends with the reason', async () => {
  const stop = new AbortController()
  const { preparing } = await begin({ signal: stop.signal })
  stop.abort(new Error('stopped'))
  await assert.rejects(preparing, /stopped/)
  assert.throws(() => new VideoProcess(tmpdir(), stop.signal), /stopped/)
})
