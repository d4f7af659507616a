/**
 * Video work that needs too many resources or is canceled ends without affecting the process that
 * waits for it.
 */

import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import type { ProcessLimits } from '../../../../engine/media/process/limited-process.ts'
import { VIDEO_LIMITS, VideoProcess } from '../../../../engine/media/process/video-process.ts'
import { noise } from '../../../support/media/signals.ts'
import { mediaFolder } from './read-sound.ts'

const { make } = mediaFolder()

test('re-encoding ends at its limits of memory and time, and when it is aborted', async () => {
  const path = await make('p.flv', 'flv', {
    audio: { planes: [noise(1, 44_100)], sampleRate: 44_100, encoder: 'aac' },
    video: { seconds: 0.3, encoder: 'flv', width: 4096, height: 2304 },
  })
  const stop = new AbortController()
  const folder = dirname(path)
  const prepare = (limits: Partial<ProcessLimits>) =>
    new VideoProcess(folder, stop.signal, { ...VIDEO_LIMITS, ...limits }).prepare({ path, folder })
  const outOfMemory = /FFmpeg could not|more than 200 MiB of memory/
  await assert.rejects(prepare({ bytesMax: 200 * 2 ** 20 }), outOfMemory)
  await assert.rejects(prepare({ secondsMax: 0 }), /takes longer than 0 s/)
  const aborted = prepare({})
  stop.abort(new Error('stopped'))
  await assert.rejects(aborted, /stopped/)
  assert.throws(() => new VideoProcess(folder, stop.signal), /stopped/)
})
