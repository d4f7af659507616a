/** Our own outputs are recognized by the mark that the encoder writes, not by their names. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEncoder } from '../../../../engine/media/write/encode.ts'
import { TAG_CHARACTERS_MAX } from '../../../../engine/media/read/tags.ts'
import { isOwnOutput } from '../../../../scripts/cli/separate/own-outputs.ts'
import { examplePath } from '../../../support/media/examples.ts'
import { noise } from '../../../support/media/signals.ts'
import { mediaFolder } from '../../engine/media/read-sound.ts'

const folder = mediaFolder()
const LONG = '夜'.repeat(TAG_CHARACTERS_MAX)
const TAGS = { title: LONG, artist: LONG, album: LONG, comment: LONG, copyright: LONG }

test('sound that was separated carries a mark, in every format and with the longest tags', async () => {
  for (const format of ['wav', 'flac', 'mp3'] as const) {
    for (const tags of [{}, TAGS]) {
      const path = await folder.save(`out.${format}`, Buffer.alloc(0)) // a placeholder
      const encoder = await createEncoder(path, { format, sampleRate: 44_100, channels: 1, tags })
      await encoder.write([noise(0.2, 44_100)])
      await encoder.finish()
      assert.equal(isOwnOutput(path), true, format)
    }
  }
})

test('other files carry none', async () => {
  assert.equal(isOwnOutput(examplePath('drums-and-flute.wav')), false)
  assert.equal(isOwnOutput(await folder.save('empty.wav', Buffer.alloc(0))), false)
  assert.equal(isOwnOutput('/nowhere.wav'), false)
})
