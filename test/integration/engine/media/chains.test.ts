/**
 * Files of several recordings in a row that differ in rate or channels: all of them are decoded.
 */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { measureSound } from '../../../../engine/media/read/measure.ts'
import type { AudioTrack } from '../../../support/media/make-media.ts'
import { assertClose } from '../../../support/basics/assert-close.ts'
import { noise, sine } from '../../../support/media/signals.ts'
import { assertBetween, assertNear, correlation, mediaFolder, readSound } from './read-sound.ts'

const { save, make } = mediaFolder()

interface Part {
  sampleRate: number
  channels: number
  seconds: number
}

let partCount = 0

/** Makes a recording with a tone of 400 Hz in each channel. */
async function bytesOf(
  container: string,
  encoder: string,
  { sampleRate, channels, seconds }: Part,
  containerOptions: Record<string, string> = {},
): Promise<Buffer> {
  const tone = sine(400, seconds, sampleRate).map((x) => x / 2)
  const planes = Array<Float32Array>(channels).fill(tone)
  const audio: AudioTrack = { planes, sampleRate, encoder, bitRate: 2 * sampleRate * channels }
  return readFile(await make(`part ${partCount++}`, container, { audio, containerOptions }))
}

async function chain(
  container: string,
  encoder: string,
  parts: readonly Part[],
  containerOptions: Record<string, string> = {},
): Promise<string> {
  const bytes: Buffer[] = []
  for (const part of parts) bytes.push(await bytesOf(container, encoder, part, containerOptions))
  return save(`chain ${partCount++}`, Buffer.concat(bytes))
}

/** Fails unless half a second of sound from `at` is the tone, at its level. */
function assertTone(planes: readonly Float32Array[], sampleRate: number, at: number): void {
  const from = Math.round(at * sampleRate)
  for (const plane of planes) {
    const excerpt = plane.subarray(from, from + sampleRate / 2) // whole periods of the tone
    const [inPhase, quarter] = [0, 1 / 4].map((turn) =>
      correlation(
        excerpt.map((_, n) => Math.sin(2 * Math.PI * ((400 * n) / sampleRate + turn))),
        excerpt,
      ),
    )
    assertBetween(Math.hypot(inPhase!, quarter!), 0.98, 1.0001)
    assertNear(Math.max(...excerpt), Math.max(...sine(400, 0.1, sampleRate)) / 2, 0.06)
  }
}

const SAME = { sampleRate: 48_000, channels: 2, seconds: 1.7 }
const MONO = { ...SAME, channels: 1, seconds: 1.3 }
const SLOW = { sampleRate: 24_000, channels: 1, seconds: 1.3 }
const changes = [
  ['no change', { ...SAME, seconds: 1.3 }, 0],
  ['other channels', MONO, 1],
  ['another rate', { ...SLOW, channels: 2 }, 1],
  ['another rate and other channels', SLOW, 1],
] as const

describe('chained Ogg', () => {
  for (const encoder of ['libvorbis', 'libopus', 'flac']) {
    for (const [name, second, changed] of changes) {
      if (encoder === 'libopus' && second.sampleRate !== 48_000) continue // always 48 kHz
      test(`${encoder}, ${name}: as long as the sum of the links, to the sample`, async () => {
        const path = await chain('ogg', encoder, [SAME, second, SAME])
        const { mixture, planes } = await readSound(path)
        assert.equal(mixture.channels, 2)
        assert.equal(mixture.sampleRate, 48_000)
        assert.equal(mixture.corruptPackets, 0)
        assert.equal(planes[0]!.length, 48_000 * (1.7 + 1.3 + 1.7))
        for (const at of [0.6, 2.2, 3.8]) assertTone(planes, 48_000, at)
        assertNear((await measureSound(path, { secondsMax: 60 }))!, 4.7, 0.05)
        const [about, ...lines] = mixture.remarks
        assert.match(about!, /source is 3 recordings, read one after the other/)
        assert.equal(lines.length, changed * 2, lines.join('\n'))
        if (changed) assert.match(lines[0]!, /changes at 1\.70 s, from 48000 Hz, 2 channels to /)
      })
    }
  }

  test('the samples of a lossless chain are those that were written', async () => {
    const [a, b] = [noise(0.9, 48_000), noise(0.8, 48_000, 5)]
    const links = []
    for (const plane of [a, b]) {
      const audio = { planes: [plane], sampleRate: 48_000, encoder: 'flac' }
      links.push(await readFile(await make(`link ${partCount++}`, 'ogg', { audio })))
    }
    const { planes } = await readSound(await save('lossless.ogg', Buffer.concat(links)))
    assertClose(planes[0]!, Float32Array.of(...a, ...b), { absolute: 0.51 / 2 ** 15 })
  })

  test('a link that is damaged is left out, and named', async () => {
    const links = [SAME, MONO, SAME].map((part) => bytesOf('ogg', 'libvorbis', part))
    const [first, second, third] = await Promise.all(links)
    second!.fill(0x55, second!.indexOf('vorbis') - 1, second!.length)
    const { mixture, planes } = await readSound(
      await save('damaged.ogg', Buffer.concat([first!, second!, third!])),
    )
    assert.equal(planes[0]!.length, 48_000 * 3.4)
    assert.match(mixture.remarks[1]!, /^Recording 2 of the source is left out: /)
  })
})

const joined = [
  ['mp3', 'libmp3lame', SLOW],
  ['adts', 'aac', MONO],
  ['latm', 'aac', SLOW],
  ['ac3', 'ac3', { ...SAME, sampleRate: 32_000, seconds: 1.3 }],
  ['mp2', 'mp2', { ...SAME, sampleRate: 32_000, seconds: 1.3 }],
  ['mpegts', 'aac', SLOW],
] as const
for (const [container, encoder, second] of joined) {
  const { sampleRate, channels } = second
  test(`${encoder} in ${container}, ${sampleRate} Hz first: no silence is added`, async () => {
    const path = await chain(container, encoder, [second, SAME, SAME])
    const { mixture, planes } = await readSound(path)
    const seconds = planes[0]!.length / mixture.sampleRate
    assertNear(seconds, 4.7, 0.2)
    for (const at of [0.6, 1.7, 2.2, 3.9]) assertTone(planes, mixture.sampleRate, at)
    assertNear((await measureSound(path, { secondsMax: 60 }))!, seconds, 0.1)
  })

  test(`${encoder} in ${container}, then at ${sampleRate} Hz with ${channels} channels`, async () => {
    const path = await chain(container, encoder, [SAME, second])
    const { mixture, planes } = await readSound(path)
    assert.equal(mixture.sampleRate, 48_000)
    assertNear(planes[0]!.length / 48_000, 3, 0.2)
    for (const at of [0.6, 2.3]) assertTone(planes, 48_000, at)
    assertNear((await measureSound(path, { secondsMax: 60 }))!, planes[0]!.length / 48_000, 0.1)
    assert.match(mixture.remarks.join('\n'), /changes at 1\.\d\d s, from 48000 Hz, 2 channels to /)
  })
}

describe('a transport stream', () => {
  const other = { ...MONO, seconds: 1.3 }
  const second: Record<string, () => Promise<Buffer>> = {
    'under other PIDs': () => bytesOf('mpegts', 'aac', other, { mpegts_start_pid: '0x200' }),
    'of another coding': () => bytesOf('mpegts', 'mp2', other),
    'of a private coding': () => bytesOf('mpegts', 'ac3', other, { mpegts_flags: 'system_b' }),
    'of another programme': () =>
      bytesOf('mpegts', 'aac', other, {
        mpegts_pmt_start_pid: '0x1010',
        mpegts_start_pid: '0x300',
      }),
  }
  for (const [name, bytesOfSecond] of Object.entries(second)) {
    test(`whose sound is replaced by one ${name}: all is read`, async () => {
      const first = await bytesOf('mpegts', 'aac', SAME)
      const path = await save(
        `replaced ${partCount++}`,
        Buffer.concat([first, await bytesOfSecond(), first]),
      )
      const { mixture, planes } = await readSound(path)
      const seconds = planes[0]!.length / 48_000
      assertNear(seconds, 4.7, 0.2)
      assert.equal(mixture.corruptPackets, 0)
      for (const at of [0.6, 2.3, 3.9]) assertTone(planes, 48_000, at)
      assertNear((await measureSound(path, { secondsMax: 60 }))!, seconds, 0.1)
      assert.match(mixture.remarks[0]!, /source is 3 recordings, read one after the other/)
      assert.deepEqual(mixture.trackRemarks, [])
    })
  }

  test('with another track for a while is one recording', async () => {
    const plane = sine(400, 1.3, 48_000)
    const audio = { planes: [plane, plane], sampleRate: 48_000, encoder: 'aac' }
    const two = await readFile(
      await make(`two ${partCount++}`, 'mpegts', { audio: [audio, audio] }),
    )
    const one = await readFile(await make(`one ${partCount++}`, 'mpegts', { audio }))
    const { mixture, planes } = await readSound(await save('added.ts', Buffer.concat([one, two])))
    assertNear(planes[0]!.length / 48_000, 2.6, 0.2)
    assert.doesNotMatch(mixture.remarks.join(), /recordings/)
  })

  test('with a damaged map is one recording', async () => {
    const first = await bytesOf('mpegts', 'aac', SAME)
    const damaged = Buffer.from(first)
    const aac = Buffer.from('0fe100', 'hex') // type and PID in the program map
    for (let at = damaged.indexOf(aac); at >= 0; at = damaged.indexOf(aac)) damaged[at] = 3
    const path = await save('damaged.ts', Buffer.concat([first, damaged]))
    const { mixture, planes } = await readSound(path)
    assertNear(planes[0]!.length / 48_000, 3.4, 0.2)
    assert.doesNotMatch(mixture.remarks.join(), /recordings/)
  })
})

const FRAGMENTED = { movflags: 'frag_keyframe+empty_moov', frag_duration: '500000' }
/** Container, encoder, options, and by how many samples a part's length may be off. */
const files = [
  ['flac', 'flac', {}, 0],
  ['wv', 'wavpack', {}, 0],
  ['tta', 'tta', {}, 0],
  ['wav', 'pcm_s16le', {}, 0],
  ['wav', 'pcm_s16le', { rf64: 'always' }, 0],
  ['w64', 'pcm_s16le', {}, 0],
  ['aiff', 'pcm_s16be', {}, 0],
  ['caf', 'pcm_s16be', {}, 0],
  ['au', 'pcm_s16be', {}, 0],
  ['avi', 'pcm_s16le', {}, 0],
  ['matroska', 'pcm_s16le', {}, 0],
  ['webm', 'libopus', {}, 0],
  ['mp4', 'aac', {}, 0],
  ['mp4', 'aac', { movflags: '+faststart' }, 0],
  ['mp4', 'aac', FRAGMENTED, 2_048],
  ['mov', 'pcm_s16le', {}, 0],
  ['flv', 'aac', {}, 2_048],
  ['asf', 'wmav2', {}, 4_096],
] as const
describe('files put together byte by byte', () => {
  for (const [container, encoder, options, tolerance] of files) {
    const kind = [container, ...Object.values(options)].join(' ')
    const second = encoder === 'libopus' ? MONO : SLOW // always 48 kHz
    test(`${kind}, of another form: all is read, and said`, async () => {
      const path = await chain(container, encoder, [SAME, second, SAME], options)
      const { mixture, planes } = await readSound(path)
      assert.equal(mixture.sampleRate, 48_000)
      assert.equal(mixture.corruptPackets, 0)
      const slower = 48_000 / second.sampleRate
      const samples = 48_000 * (1.7 + 1.3 + 1.7)
      assertNear(planes[0]!.length, samples, tolerance * (2 + slower))
      for (const at of [0.6, 2.2, 3.8]) assertTone(planes, 48_000, at)
      const seconds = planes[0]!.length / 48_000
      assertNear((await measureSound(path, { secondsMax: 60 }))!, seconds, 0.25)
      assert.match(mixture.remarks[0]!, /source is 3 recordings, read one after the other/)
    })
  }

  test('anything between or after them is skipped', async () => {
    const bytes = await bytesOf('wv', 'wavpack', SAME)
    const tag = Buffer.from('APETAGEX and what belongs to it, of no meaning to a decoder at all.')
    const path = await save('tagged.wv', Buffer.concat([bytes, tag, bytes, tag]))
    const { mixture, planes } = await readSound(path)
    assert.equal(planes[0]!.length, 48_000 * 3.4, mixture.remarks.join('\n'))
  })

  test('a marker inside the sound is not a file', async () => {
    const bytes = await bytesOf('wav', 'pcm_s16le', SAME)
    const marked = Buffer.from(bytes)
    marked.write('RIFF----wave RIFF', 10_000, 'latin1')
    const { mixture, planes } = await readSound(await save('marked.wav', marked))
    assert.equal(planes[0]!.length, 48_000 * 1.7)
    assert.deepEqual(mixture.remarks, [])
  })

  test('a WAV whose length looks like the marker of a transport stream is not one', async () => {
    const bytes = await bytesOf('wav', 'pcm_s16le', SAME)
    bytes[4] = 0x47
    const { mixture } = await readSound(await save('marks.wav', Buffer.concat([bytes, bytes])))
    assert.match(mixture.remarks[0]!, /source is 2 recordings/)
  })

  test('a part that is encrypted is named so', async () => {
    const open = await bytesOf('mp4', 'aac', SAME)
    const closed = await bytesOf('mp4', 'aac', SAME, {
      encryption_scheme: 'cenc-aes-ctr',
      encryption_key: '76a6c65c5ea762046bd749a2e632ccbb',
      encryption_kid: 'a7e61c373e219033c21091fa607bf3b8',
    })
    const path = await save('half.mp4', Buffer.concat([open, closed]))
    await assert.rejects(readSound(path), { code: 'INVALID_MEDIA', message: /encrypted/ })
  })

  test('a picture that only a later part has is left out, and a remark says so', async () => {
    const audio = { planes: [noise(1, 48_000)], sampleRate: 48_000, encoder: 'aac' }
    const video = { seconds: 1, encoder: 'libx264' }
    const parts = [await make('a', 'mp4', { audio }), await make('b', 'mp4', { audio, video })]
    const bytes = await Promise.all(parts.map((part) => readFile(part)))
    const { mixture, planes } = await readSound(await save('late.mp4', Buffer.concat(bytes)))
    assert.equal(mixture.hasVideo, false)
    assertNear(planes[0]!.length, 96_000, 2_048)
    assert.match(mixture.remarks[1]!, /^Recording 2 of the source has a picture/)
  })

  test('more than a thousand are refused as such, and a million markers take no time', async () => {
    const audio = { planes: [noise(0.01, 8_000)], sampleRate: 8_000, encoder: 'pcm_s16le' }
    const bytes = await readFile(await make('one.wav', 'wav', { audio }))
    const many = await save('many.wav', Buffer.concat(Array<Buffer>(1_001).fill(bytes)))
    await assert.rejects(measureSound(many, { secondsMax: 60 }), {
      code: 'INVALID_MEDIA',
      message: /more than 1000 files, one after the other/,
    })
    const marks = Buffer.concat([bytes, Buffer.alloc(2 ** 23, 'RIFF')])
    assertNear(
      (await measureSound(await save('marks.wav', marks), { secondsMax: 60 }))!,
      0.01,
      1e-3,
    )
  })
})
