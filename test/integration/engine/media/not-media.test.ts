import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { openMixture } from '../../../../engine/media/read/decode.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { makeMedia } from '../../../support/media/make-media.ts'
import { noise } from '../../../support/media/signals.ts'
import { wavBytes } from '../../../support/media/wav.ts'
import { NO_LIMITS } from './read-sound.ts'

const folder = temporaryFolder({ after })

const PROSE = 'The quick brown fox jumps over the lazy dog, again and again.\n'.repeat(400)
const WAV = wavBytes([noise(1, 8000)], 8000)

/** Makes a valid PNG of 64 by 64 gray pixels. */
function png(): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const size = Buffer.alloc(4)
    size.writeUInt32BE(data.length)
    return Buffer.concat([size, Buffer.from(name), data, Buffer.alloc(4)])
  }
  const header = Buffer.from('00000040000000400800000000', 'hex')
  const pixels = deflateSync(Buffer.alloc(64 * 65))
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const zeros = (bytes: number) => Buffer.alloc(bytes)
const text = (content: string) => Buffer.from(content)

/** Returns bytes that are the same in every run and resemble no format. */
function noiseBytes(size: number): Uint8Array {
  let state = 7
  return Uint8Array.from(
    { length: size },
    () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 24,
  )
}

/** Puts the first bytes of a format, in hexadecimal, before bytes that do not belong to it. */
const withNoise = (mark: string) => Buffer.concat([Buffer.from(mark, 'hex'), noiseBytes(9000)])

/** Name, content, and expected message. */
const CORPUS: [string, Buffer, RegExp][] = [
  ['nothing', zeros(0), /is empty/],
  ['one byte', zeros(1), /no audio or video/],
  ['zeros', zeros(200_000), /no audio or video/],
  ['prose', text(PROSE), /is text/],
  // 47 bytes a line, so a G every 188 bytes, like the sync bytes of MPEG transport streams
  ['prose in UTF-8', text('Größenänderung für Füße — ünïcödé.\n'.repeat(500)), /is text/],
  ['prose of a megabyte', text(PROSE.repeat(50)), /is text/],
  ['JSON', text(JSON.stringify({ sounds: Array(500).fill({ a: 1, b: null }) })), /is text/],
  ['HTML', text(`<!DOCTYPE html><html><body>${PROSE}</body></html>`), /a web page/],
  ['XML', text(`<?xml version="1.0"?><rss>${PROSE}</rss>`), /is text/],
  ['subtitles', text('1\n00:00:01,000 --> 00:00:02,000\nHello\n\n'.repeat(50)), /is text/],
  ['PDF', withNoise('255044462d312e370a'), /a PDF document/],
  ['PNG', png(), /an image/],
  ['JPEG', withNoise('ffd8ffe000104a46494600'), /an image/],
  ['GIF', withNoise('474946383961'), /an image/],
  ['ZIP', withNoise('504b0304'), /a ZIP archive/],
  ['gzip', withNoise('1f8b0800'), /an archive/],
  ['ELF program', withNoise('7f454c46020101'), /no audio or video/],
  ['HLS playlist', text('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n'), /a playlist/],
  ['concat script', text(`ffconcat version 1.0\nfile 'other.wav'\n`), /a playlist/],
  ['SDP', text('v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\nm=audio 5004 RTP/AVP 0\r\n'), /a playlist/],
  ['PLS', text('[playlist]\nFile1=http://127.0.0.1/a.mp3\n'), /a playlist/],
  ['DASH manifest', text('<MPD xmlns="urn:mpeg:dash:schema:mpd:2011"></MPD>'), /is text/],
  ['WAV header alone', WAV.subarray(0, 44), /damaged or cut off/],
  ['half a WAV header', WAV.subarray(0, 20), /damaged or cut off/],
  ['WAV of no samples', wavBytes([new Float32Array(0)], 8000), /damaged or cut off/],
  ['ID3 tag before prose', Buffer.concat([text('ID3\x03\0\0\0\0\0\0'), text(PROSE)]), /damaged/],
  ['MP4 mark before noise', withNoise('00000018667479706d703432'), /damaged/],
  ['Matroska mark before noise', withNoise('1a45dfa3'), /damaged/],
  ['Ogg mark before noise', withNoise('4f676753'), /damaged/],
]

/** The file name must make no difference. */
const NAMES = ['source', 'source.mp3', 'source.wav', 'source.amr', 'source.m3u8', 'source.ts']

for (const [name, bytes, message] of CORPUS) {
  test(`${name} is INVALID_MEDIA`, async () => {
    for (const fileName of NAMES) {
      const path = join(folder, fileName)
      await writeFile(path, bytes)
      await assert.rejects(openMixture(path, NO_LIMITS), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'INVALID_MEDIA', `${fileName}: ${error.stack}`)
        assert.match(error.message, message)
        assert.match(error.message, /WAV, AIFF, FLAC, MP3/)
        return true
      })
    }
  })
}

test('noise of any size is INVALID_MEDIA', async () => {
  const path = join(folder, 'noise')
  for (const size of [10, 100, 1000, 5000, 20_000, 100_000, 2_000_000]) {
    await writeFile(path, noiseBytes(size))
    await assert.rejects(openMixture(path, NO_LIMITS), { code: 'INVALID_MEDIA' })
  }
})

test('a video without sound is NO_AUDIO_STREAM', async () => {
  for (const [container, encoder] of [
    ['mp4', 'libx264'],
    ['matroska', 'mpeg4'],
  ] as const) {
    const path = join(folder, `silent.${container}`)
    await makeMedia(path, container, { video: { seconds: 1, encoder } })
    await assert.rejects(openMixture(path, NO_LIMITS), {
      code: 'NO_AUDIO_STREAM',
      message: /video has no sound/,
    })
  }
})

test('an MP4 without its index is INVALID_MEDIA', async () => {
  const path = join(folder, 'cut.mp4')
  const audio = { planes: [noise(1, 44100)], sampleRate: 44100, encoder: 'aac' }
  await makeMedia(path, 'mp4', { audio })
  const bytes = await readFile(path)
  await writeFile(path, bytes.subarray(0, bytes.length / 2)) // the index comes at the end
  await assert.rejects(openMixture(path, NO_LIMITS), { code: 'INVALID_MEDIA', message: /cut off/ })
})

test('AMR is only accepted with its marker', async () => {
  // Frames of 20 ms of silence in the lowest mode: a header byte and 12 bytes each.
  const frames = Buffer.concat(Array.from({ length: 50 }, () => Buffer.from([0x04, ...zeros(12)])))
  const path = join(folder, 'speech.amr')
  await writeFile(path, Buffer.concat([text('#!AMR\n'), frames]))
  const mixture = await openMixture(path, NO_LIMITS)
  assert.equal(mixture.codec, 'amr_nb')
  assert.equal(mixture.sampleRate, 8000)
  await mixture.close()
  await writeFile(path, frames)
  await assert.rejects(openMixture(path, NO_LIMITS), { code: 'INVALID_MEDIA' })
})

test('a missing file is an internal error, and not blamed on the media', async () => {
  await assert.rejects(openMixture(join(folder, 'absent'), NO_LIMITS), { code: 'ENOENT' })
})
