import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { openMixture } from '../../../../engine/media/read/decode.ts'
import { chirp, noise, sine } from '../../../support/media/signals.ts'
import { wavBytes } from '../../../support/media/wav.ts'
import { assertClose } from '../../../support/basics/assert-close.ts'
import {
  assertAlike,
  assertBetween,
  assertNear,
  bothOf,
  correlation,
  lagOf,
  mediaFolder,
  NO_LIMITS,
  readSound,
  SAMPLE,
} from './read-sound.ts'

const { save, make } = mediaFolder()

const STEREO = [chirp(1.3, 44100), noise(1.3, 44100)]
const STEREO_48 = [chirp(1.3, 48000), noise(1.3, 48000)]
const HALF_STEP_16 = 0.51 / 2 ** 15

async function assertMeasured(path: string, near: number): Promise<void> {
  const { measured, decoded } = await bothOf(path)
  assertNear(measured, decoded, near)
}

describe('lossless files', () => {
  test('16-bit, 24-bit and float WAV give the samples that were written', async () => {
    const codings = [
      ['pcm16', HALF_STEP_16],
      ['pcm24', 0.51 / 2 ** 23],
      ['float32', 0],
    ] as const
    for (const [coding, absolute] of codings) {
      const path = await save(coding, wavBytes(STEREO, 44100, coding))
      const { mixture, planes } = await readSound(path)
      assert.equal(mixture.sampleRate, 44100)
      assert.equal(mixture.channels, 2)
      assert.equal(mixture.corruptPackets, 0)
      assert.equal(mixture.hasVideo, false)
      for (const [channel, plane] of planes.entries()) {
        assertClose(plane, STEREO[channel]!, { absolute })
      }
    }
  })

  const others = [
    ['flac', 'flac'],
    ['ipod', 'alac'],
    ['tta', 'tta'],
    ['wv', 'wavpack'],
    ['aiff', 'pcm_s16be'],
    ['au', 'pcm_s16be'],
    ['caf', 'pcm_s16be'],
    ['w64', 'pcm_s16le'],
    ['mov', 'pcm_s16le'],
    ['ogg', 'flac'],
    ['matroska', 'flac'],
    ['aiff', 'pcm_s16le'], // AIFF-C, `sowt`
    ['caf', 'pcm_s16le'],
    ['mov', 'pcm_s16be'],
    ['matroska', 'pcm_s16be'],
  ] as const
  for (const [container, encoder] of others) {
    test(`${encoder} in ${container} gives the samples that were written`, async () => {
      const audio = { planes: STEREO, sampleRate: 44100, encoder }
      const path = await make(`lossless.${container}`, container, { audio })
      const { planes } = await readSound(path)
      for (const [channel, plane] of planes.entries()) {
        assertClose(plane, STEREO[channel]!, { absolute: HALF_STEP_16 })
      }
      await assertMeasured(path, container === 'matroska' ? 0.02 : SAMPLE)
    })
  }

  test('blocks have at most 65,536 samples, and memory of their own', async () => {
    const path = await save('blocks', wavBytes([sine(440, 3, 44100), sine(660, 3, 44100)], 44100))
    const { blockLengths } = await readSound(path)
    assert.deepEqual(blockLengths, [65_536, 65_536, 1_228])
    const mixture = await openMixture(path, NO_LIMITS)
    const blocks = mixture.blocks()
    const first = (await blocks.next()).value!
    const kept = first[0].slice()
    await blocks.next()
    assert.deepEqual(first[0], kept)
    await mixture.close()
  })

  test('NaN, infinity and values beyond +60 dBFS become 0; others beyond 1 stay', async () => {
    const left = Float32Array.of(0.5, NaN, Infinity, -Infinity, 1.75, -3, 1e30, -1001, 1000)
    const right = new Float32Array(9).fill(0.25).fill(-1e9, 0, 1)
    const path = await save('nan', wavBytes([left, right], 8000, 'float32'))
    const { planes, mixture } = await readSound(path)
    assert.deepEqual(planes[0], Float32Array.of(0.5, 0, 0, 0, 1.75, -3, 0, 0, 1000))
    assert.deepEqual(planes[1], new Float32Array(9).fill(0.25).fill(0, 0, 1))
    assert.deepEqual(mixture.remarks, [
      'Silenced 6 damaged samples of the source, the first at 0.00 s: ' +
        'they were not numbers, or beyond +60 dBFS.',
    ])
  })

  test('a remark says where damage begins, and intact sound has no remark', async () => {
    const plane = new Float32Array(150_000).fill(0.5)
    const whole = await readSound(await save('whole', wavBytes([plane], 8000, 'float32')))
    assert.deepEqual(whole.mixture.remarks, [])
    plane[100_000] = 1e30
    const { mixture } = await readSound(await save('spike', wavBytes([plane], 8000, 'float32')))
    assert.match(mixture.remarks.join(), /^Silenced 1 damaged sample of .* at 12\.50 s:/)
  })
})

describe('lossy files', () => {
  /** Container, encoder, and how exactly the length is measured, in seconds. */
  const exact = [
    ['mp3', 'libmp3lame', SAMPLE],
    ['ipod', 'aac', SAMPLE],
    ['mp4', 'aac', SAMPLE],
    ['ogg', 'libvorbis', 0.01],
    ['ogg', 'libopus', SAMPLE],
    ['webm', 'libopus', 0.01],
  ] as const
  for (const [container, encoder, near] of exact) {
    test(`${encoder} in ${container} keeps length and place`, async () => {
      const sampleRate = encoder === 'libopus' ? 48000 : 44100
      const source = sampleRate === 48000 ? STEREO_48 : STEREO
      const audio = { planes: source, sampleRate, encoder }
      const path = await make(`${encoder}.${container}`, container, { audio })
      const { mixture, planes } = await readSound(path)
      assert.equal(mixture.sampleRate, sampleRate)
      assert.equal(planes[0]!.length, source[0]!.length)
      assert.equal(lagOf(source[0]!, planes[0]!), 0)
      assertAlike(planes[0]!, source[0]!, 0.98)
      await assertMeasured(path, near)
    })
  }

  const padded = [
    ['adts', 'aac', SAMPLE],
    ['ac3', 'ac3', 0.01],
    ['asf', 'wmav2', 0.1],
    ['mp2', 'mp2', SAMPLE],
    ['matroska', 'libmp3lame', 0.01],
    ['avi', 'libmp3lame', SAMPLE],
    ['mpegts', 'aac', 0.01],
    ['flv', 'aac', 0.01],
    ['flv', 'libmp3lame', 0.01],
    ['latm', 'aac', 0.03],
    ['eac3', 'eac3', 0.01],
    ['webm', 'libvorbis', 0.01],
    ['matroska', 'aac', 0.02],
  ] as const
  for (const [container, encoder, near] of padded) {
    test(`${encoder} in ${container} is decoded whole`, async () => {
      const audio = { planes: STEREO, sampleRate: 44100, encoder }
      const path = await make(`padded.${container}`, container, { audio })
      const { planes } = await readSound(path)
      assertNear(planes[0]!.length, STEREO[0]!.length, 4096)
      await assertMeasured(path, near)
    })
  }
})

test('DTS that a WAV file states as PCM, as ripped discs have it, is decoded as DTS', async () => {
  const options = { strict: '-2' } // an experimental encoder
  const audio = { planes: STEREO, sampleRate: 44100, encoder: 'dca', bitRate: 1_411_200, options }
  const silence = Buffer.alloc(44_100) // a quarter of a second
  const coded = await readFile(await make('disc.dts', 'dts', { audio }))
  const dts = Buffer.concat([silence, coded])
  const asPcm = [0, 1].map((channel) =>
    Float32Array.from(
      { length: Math.floor(dts.length / 4) },
      (_, i) => dts.readInt16LE(4 * i + 2 * channel) / 2 ** 15,
    ),
  )
  const { mixture, planes } = await readSound(await save('disc.wav', wavBytes(asPcm, 44100)))
  assert.equal(mixture.codec, 'dts')
  assertNear(planes[0]!.length, STEREO[0]!.length, 4096)
})

describe('channels and rates', () => {
  test('excess channels are mixed down without overshoot', async () => {
    const loud = Array.from({ length: 6 }, () => sine(440, 0.3, 48000).map((x) => x * 2))
    const path = await save('loud', wavBytes(loud, 48000, 'float32', 0x3f))
    const { mixture, planes } = await readSound(path, { channelsMax: 2 })
    assert.equal(mixture.channels, 2)
    assert.equal(mixture.channelMask, 3n)
    const peak = planes[0]!.reduce((most, x) => Math.max(most, Math.abs(x)), 0)
    assertBetween(peak, 0.99, 1.00001)
  })

  test('stereo becomes the mean of both; left stays left in a mix of 5.1', async () => {
    const mono = await readSound(await save('lr', wavBytes(STEREO, 44100, 'float32')), {
      channelsMax: 1,
    })
    const mean = STEREO[0]!.map((x, i) => (x + STEREO[1]![i]!) / 2)
    assertClose(mono.planes[0]!, mean, { absolute: 1e-6 })
    const silence = new Float32Array(4800)
    const left = [sine(440, 0.1, 48000), silence, silence, silence, silence, silence]
    const mixed = await readSound(await save('left', wavBytes(left, 48000, 'float32', 0x3f)), {
      channelsMax: 2,
    })
    assertBetween(Math.max(...mixed.planes[0]!), 0.1, 0.5)
    assertClose(mixed.planes[1]!, silence, {})
  })

  test('channels without a meaning are kept, or go to both sides in turn', async () => {
    const nine = Array.from({ length: 9 }, (_, i) => new Float32Array(4410).fill((i + 1) / 16))
    const path = await save('nine', wavBytes(nine, 44100, 'float32', 0))
    const kept = await readSound(path)
    assert.equal(kept.mixture.channelMask, 0n)
    assert.deepEqual(
      kept.planes.map((plane) => plane[100]),
      nine.map((plane) => plane[0]),
    )
    const { planes } = await readSound(path, { channelsMax: 2 })
    // Five channels go to the left and four to the right, each with an equal share.
    assertNear(planes[0]![100]!, (1 + 3 + 5 + 7 + 9) / 16 / 5, 1e-6)
    assertNear(planes[1]![100]!, (2 + 4 + 6 + 8) / 16 / 5, 1e-6)
  })

  test('at another rate, sound has the same length in time and the same place', async () => {
    const path = await save('44k', wavBytes([chirp(1.3, 44100)], 44100, 'float32'))
    const { mixture, planes } = await readSound(path, { sampleRate: 48000 })
    assert.equal(mixture.sampleRate, 48000)
    assertNear(planes[0]!.length, 62400, 1)
    assert.equal(lagOf(STEREO_48[0]!, planes[0]!), 0)
    assertAlike(planes[0]!, STEREO_48[0]!, 0.9999)
  })
})

describe('video', () => {
  const audio = { planes: STEREO, sampleRate: 44100, encoder: 'aac' }
  for (const container of ['dv', 'mxf']) {
    test(`the sound of a camera's tape in ${container}`, async () => {
      const pcm = { planes: STEREO_48, sampleRate: 48000, encoder: 'pcm_s16le' }
      const encoder = container === 'dv' ? 'dvvideo' : 'mpeg2video'
      const size = { width: 720, height: 576, framesPerSecond: 25 }
      const video = { seconds: STEREO_48[0]!.length / 48_000, encoder, ...size }
      const { mixture, planes } = await readSound(
        await make(`tape.${container}`, container, { audio: pcm, video }),
      )
      assert.deepEqual([mixture.hasVideo, mixture.sampleRate], [true, 48_000])
      assertNear(planes[0]!.length, STEREO_48[0]!.length, 1_920) // the sound of one picture
      assert.equal(lagOf(STEREO_48[0]!, planes[0]!), 0)
    })
  }

  test('cover art is not video', async () => {
    const video = { seconds: 0, encoder: 'mjpeg', isCoverArt: true }
    const mp3 = { ...audio, encoder: 'libmp3lame' }
    const paths = [
      await make('cover.mp3', 'mp3', { audio: mp3, video }),
      await make('cover.m4a', 'ipod', { audio, video }),
    ]
    for (const path of paths) {
      const { mixture, planes } = await readSound(path)
      assert.equal(mixture.hasVideo, false)
      assert.equal(planes[0]!.length, STEREO[0]!.length)
    }
  })

  test('sound that begins after the picture has silence before it', async () => {
    const late = { ...audio, delay: 0.5 }
    const video = { seconds: 2, encoder: 'libx264' }
    for (const container of ['mp4', 'matroska']) {
      const path = await make(`late.${container}`, container, { audio: late, video })
      const { planes } = await readSound(path)
      const moved = Float32Array.from({ length: 40000 }, (_, i) => STEREO[0]![i - 22050] ?? 0)
      const lag = [-44, 0, 44].find(
        (
          shift, // Matroska counts in milliseconds
        ) => correlation(moved, planes[0]!, { start: 30000, count: 8000, lag: shift }) > 0.5,
      )
      assert.notEqual(lag, undefined, container)
    }
  })
})

describe('limits and damage', () => {
  test('media that is longer than allowed is refused while it is decoded', async () => {
    const path = await save('long', wavBytes([sine(440, 5, 44100)], 44100))
    const mixture = await openMixture(path, { ...NO_LIMITS, mediaSecondsMax: 2 })
    const drain = async () => {
      for await (const _ of mixture.blocks());
    }
    await assert.rejects(drain, { code: 'MEDIA_TOO_LONG', message: /lasts 3\.0 s.*limit is 2 s/ })
    await mixture.close()
    const { planes } = await readSound(path, { mediaSecondsMax: 5 })
    assert.equal(planes[0]!.length, 220_500)
  })

  test('the rest of a truncated file is decoded', async () => {
    const planes = [chirp(3, 44100), noise(3, 44100)]
    const kinds = [
      ['mp3', 'libmp3lame'],
      ['flac', 'flac'],
      ['ogg', 'libvorbis'],
      ['matroska', 'aac'],
      ['mp4', 'aac'],
      ['adts', 'aac'],
      ['aiff', 'pcm_s16be'],
    ] as const
    const whole: [string, Buffer][] = [['wav', wavBytes(planes, 44100)]]
    for (const [container, encoder] of kinds) {
      const containerOptions: Record<string, string> =
        container === 'mp4' ? { movflags: 'faststart' } : {}
      const tracks = { audio: { planes, sampleRate: 44100, encoder }, containerOptions }
      whole.push([container, await readFile(await make('whole', container, tracks))])
    }
    for (const [name, bytes] of whole) {
      const cut = bytes.subarray(0, Math.floor(bytes.length * 0.6))
      const { measured, decoded } = await bothOf(await save(`cut.${name}`, cut))
      assertBetween(decoded / 3, 0.3, 0.7)
      if (name === 'mp3' || name === 'wav') assertNear(measured, decoded, 0.03)
    }
  })

  test('broken packets are skipped and counted, and silence keeps their place', async () => {
    const audio = { planes: STEREO, sampleRate: 44100, encoder: 'flac' }
    const bytes = await readFile(await make('good.mkv', 'matroska', { audio }))
    bytes.fill(0xff, 12000, 14000)
    const { mixture, planes } = await readSound(await save('broken', bytes))
    assertNear(planes[0]!.length, STEREO[0]!.length, 45) // Matroska counts in milliseconds
    assertAlike(planes[0]!.subarray(50_000), STEREO[0]!.subarray(50_000), 0.95)
    assertBetween(mixture.corruptPackets, 1, 10)
  })

  test('a mixture closed early ends with an error, never as if it were complete', async () => {
    const path = await save('closed', wavBytes([sine(440, 3, 44100)], 44100))
    const mixture = await openMixture(path, NO_LIMITS)
    const blocks = mixture.blocks()
    await blocks.next()
    await mixture.close()
    await mixture.close()
    await assert.rejects(blocks.next(), /closed/)
  })
})
