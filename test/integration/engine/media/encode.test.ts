import assert from 'node:assert/strict'
import { access, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { createEncoder, type EncoderOptions } from '../../../../engine/media/write/encode.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { chirp, noise, type Planes, sine } from '../../../support/media/signals.ts'
import { readWav24 } from '../../../support/media/wav.ts'
import { assertClose } from '../../../support/basics/assert-close.ts'
import { assertAlike, assertBetween, assertNear, lagOf, readSound } from './read-sound.ts'

const folder = temporaryFolder({ after })

const STEREO = [chirp(1.3, 44100), noise(1.3, 44100)]

/** Writes `planes` in pieces of growing length. */
async function encode(name: string, planes: Planes, options: Omit<EncoderOptions, 'channels'>) {
  const path = join(folder, name)
  const encoder = await createEncoder(path, { ...options, channels: planes.length })
  for (let from = 0, step = 1; from < planes[0]!.length; from += step, step = step * 2 + 1) {
    await encoder.write(planes.map((plane) => plane.subarray(from, from + step)))
  }
  return { path, file: await encoder.finish() }
}

describe('wav', () => {
  test('holds 24 bits, rounded, of every sample', async () => {
    const { path, file } = await encode('a.wav', STEREO, { format: 'wav', sampleRate: 44100 })
    const wav = readWav24(await readFile(path))
    assert.equal(wav.sampleRate, 44100)
    assert.equal(wav.bits, 24)
    wav.planes.forEach((plane, channel) => {
      assertClose(plane, STEREO[channel]!, { absolute: 0.5 / 2 ** 23 })
    })
    const { size } = await stat(path)
    assert.deepEqual(file, { bytes: size, contentType: 'audio/wav', extension: 'wav' })
  })

  test('comes back through the decoder bit by bit', async () => {
    const { path } = await encode('b.wav', STEREO, { format: 'wav', sampleRate: 44100 })
    const again = await readSound(path)
    const twice = await encode('c.wav', again.planes, { format: 'wav', sampleRate: 44100 })
    assert.deepEqual(await readFile(twice.path), await readFile(path))
    assert.equal(again.planes[0]!.length, STEREO[0]!.length)
  })

  test('clips instead of wrapping, and turns NaN into silence', async () => {
    const step = 1 / 2 ** 23
    const loud = Float32Array.of(1, 1.5, 1e9, Infinity, -1, -1.5, -1e9, -Infinity, NaN, step * 0.75)
    const top = 1 - step
    const expected = Float32Array.of(top, top, top, top, -1, -1, -1, -1, 0, step)
    for (const channels of [1, 2, 3]) {
      // Each channel starts with a different sample.
      const planes = (samples: Float32Array) =>
        Array.from({ length: channels }, (_, c) =>
          Float32Array.of(...samples.subarray(c), ...samples.subarray(0, c)),
        )
      const { path } = await encode('loud.wav', planes(loud), { format: 'wav', sampleRate: 8000 })
      assert.deepEqual(readWav24(await readFile(path)).planes, planes(expected))
    }
  })

  test('keeps the order and meaning of six channels, and six and nine without one', async () => {
    const six = [1, 2, 3, 4, 5, 6].map((k) => new Float32Array(100).fill(k / 8))
    const options = { format: 'wav' as const, sampleRate: 48000 }
    const named = await encode('6.wav', six, { ...options, channelMask: 0x60fn })
    const wav = readWav24(await readFile(named.path))
    assert.equal(wav.mask, 0x60f)
    assert.deepEqual(wav.planes, six)
    const unnamed = await encode('6u.wav', six, options)
    assert.equal(readWav24(await readFile(unnamed.path)).mask, 0)
    const nine = [...six, ...six.slice(0, 3)]
    const free = await encode('9.wav', nine, options)
    assert.deepEqual(readWav24(await readFile(free.path)).planes, nine)
  })

  test('may hold a single sample', async () => {
    const one = [Float32Array.of(0.5)]
    const { path } = await encode('one.wav', one, { format: 'wav', sampleRate: 44100 })
    assert.deepEqual((await readSound(path)).planes, one)
  })

  test('has room to become RF64', async () => {
    const { path } = await encode('rf64.wav', STEREO, { format: 'wav', sampleRate: 44100 })
    const bytes = await readFile(path)
    const junk = bytes.indexOf('JUNK')
    assertBetween(junk, 1, bytes.indexOf('data'))
    assertBetween(bytes.readUInt32LE(junk + 4), 28, 100)
  })
})

describe('flac', () => {
  test('holds the samples of the wav, in fewer bytes', async () => {
    const wav = await encode('same.wav', STEREO, { format: 'wav', sampleRate: 44100 })
    const flac = await encode('same.flac', STEREO, { format: 'flac', sampleRate: 44100 })
    const [one, other] = [await readSound(wav.path), await readSound(flac.path)]
    assert.equal(other.mixture.codec, 'flac')
    assert.deepEqual(other.planes, one.planes)
    const { size } = await stat(flac.path)
    assert.ok(size < wav.file.bytes)
    assert.deepEqual(flac.file, { bytes: size, contentType: 'audio/flac', extension: 'flac' })
  })
})

describe('mp3', () => {
  test('keeps length and place', async () => {
    const { path, file } = await encode('a.mp3', STEREO, { format: 'mp3', sampleRate: 44100 })
    const { mixture, planes } = await readSound(path)
    assert.equal(mixture.codec, 'mp3')
    assert.equal(mixture.sampleRate, 44100)
    assert.equal(planes[0]!.length, STEREO[0]!.length)
    assert.equal(lagOf(STEREO[0]!, planes[0]!), 0)
    assertAlike(planes[0]!, STEREO[0]!, 0.999)
    const { size } = await stat(path)
    assert.deepEqual(file, { bytes: size, contentType: 'audio/mpeg', extension: 'mp3' })
  })

  test('is V0: noise takes far more than 128 kbit/s, silence far less', async () => {
    const options = { format: 'mp3' as const, sampleRate: 44100 }
    const loud = await encode('noise.mp3', [noise(2, 44100), noise(2, 44100, 9)], options)
    const still = await encode('still.mp3', [new Float32Array(88200)], options)
    assertBetween(loud.file.bytes, 2 * 27_000, 2 * 41_000)
    assertBetween(still.file.bytes, 1_000, 2 * 6_000)
  })
})

for (const format of ['wav', 'flac', 'mp3'] as const) {
  describe(`any ${format}`, () => {
    const options = { format, sampleRate: 44100, channels: 2 }

    test('may have no samples, or few, and takes empty blocks', async () => {
      const none = await encode(`none.${format}`, [new Float32Array(0)], options)
      assert.equal(none.file.bytes, (await stat(none.path)).size)
      const few = await encode(`few.${format}`, [sine(440, 0.1, 44100)], options)
      assert.equal((await readSound(few.path)).planes[0]!.length, 4410)
      const path = join(folder, `gaps.${format}`)
      const encoder = await createEncoder(path, options)
      const empty = [new Float32Array(0), new Float32Array(0)]
      for (const block of [empty, STEREO, empty]) await encoder.write(block)
      await encoder.finish()
      assert.equal((await readSound(path)).planes[0]!.length, STEREO[0]!.length)
    })

    test('leaves nothing when aborted in the middle of a write, and stays after its end', async () => {
      const path = join(folder, `aborted.${format}`)
      const aborted = await createEncoder(path, options)
      const writing = aborted.write(STEREO)
      await aborted.abort()
      await writing
      await assert.rejects(access(path), { code: 'ENOENT' })
      const whole = await createEncoder(path, options)
      await whole.write(STEREO)
      await whole.finish()
      await whole.abort()
      assertBetween((await stat(path)).size, 1000, 1_000_000)
    })

    test('says that the disk is full, or the folder absent', async () => {
      const fill = async () => {
        const encoder = await createEncoder('/dev/full', options)
        for (let i = 0; i < 20; i++) await encoder.write(STEREO)
        await encoder.finish()
      }
      await assert.rejects(fill, /No space left/)
      await assert.rejects(createEncoder(join(folder, 'no/such/folder'), options), /No such file/)
    })
  })
}

describe('aac', () => {
  test('keeps length and place, from the first sample on', async () => {
    const { path, file } = await encode('a.m4a', STEREO, { format: 'aac', sampleRate: 44100 })
    const { mixture, planes } = await readSound(path)
    assert.equal(mixture.codec, 'aac')
    assert.equal(planes[0]!.length, STEREO[0]!.length)
    assert.equal(lagOf(STEREO[0]!, planes[0]!), 0)
    assertAlike(planes[0]!.subarray(0, 2048), STEREO[0]!.subarray(0, 2048), 0.99)
    assertAlike(planes[0]!, STEREO[0]!, 0.99)
    assert.equal(file.contentType, 'audio/mp4')
  })
})

/** Format, the rate that is asked for, the one that is written, and the number of channels. */
const RATES = [
  ['flac', 11_025, 11_025, 6],
  ['flac', 70_001, 70_000, 1],
  ['flac', 192_000, 192_000, 2],
  ['mp3', 4_000, 8_000, 1],
  ['mp3', 8_000, 8_000, 1],
  ['mp3', 22_050, 22_050, 2],
  ['mp3', 37_800, 44_100, 1],
  ['mp3', 48_000, 48_000, 6],
  ['mp3', 88_200, 44_100, 1],
  ['mp3', 96_000, 48_000, 1],
  ['mp3', 192_000, 48_000, 2],
  ['aac', 8_000, 8_000, 2],
  ['aac', 37_800, 44_100, 1],
  ['aac', 96_000, 96_000, 6],
  ['aac', 176_400, 88_200, 1],
  ['aac', 192_000, 96_000, 2],
] as const
for (const [format, given, written, channels] of RATES) {
  test(`${format} of ${channels} channels at ${given} Hz is written at ${written} Hz, all of it`, async () => {
    const planes = Array.from({ length: channels }, () => sine(440, 0.8, given))
    const { path } = await encode(`rate.${format}`, planes, { format, sampleRate: given })
    const { mixture, planes: decoded } = await readSound(path)
    assert.equal(mixture.sampleRate, written)
    assert.equal(mixture.channels, format === 'mp3' ? Math.min(2, channels) : channels)
    assertNear(decoded[0]!.length, 0.8 * written, 1)
    for (const plane of decoded) assertAlike(plane, sine(440, 0.8, written), 0.99)
  })
}
