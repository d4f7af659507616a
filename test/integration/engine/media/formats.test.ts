/** Rare formats are decoded exactly, or refused by name. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMixture } from '../../../../engine/media/read/decode.ts'
import { chirp, noise, sine } from '../../../support/media/signals.ts'
import { wavBytes } from '../../../support/media/wav.ts'
import { assertClose } from '../../../support/basics/assert-close.ts'
import { assertNear, correlation, mediaFolder, NO_LIMITS, readSound } from './read-sound.ts'

const { save, make } = mediaFolder()

const RATE = 44_100
const STEREO = [chirp(1.3, RATE), noise(1.3, RATE)]
const HALF_STEP_16 = 0.51 / 2 ** 15

/** Interleaves the channels, writing each sample with `write`. */
function interleaved(bytes: number, write: (to: Buffer, x: number, at: number) => void): Buffer {
  const samples = STEREO[0]!.length
  const data = Buffer.alloc(samples * 2 * bytes)
  for (let i = 0; i < samples * 2; i++) write(data, STEREO[i % 2]![i >> 1]!, i * bytes)
  return data
}

const int16 = (x: number) => Math.max(-(2 ** 15), Math.min(2 ** 15 - 1, Math.round(x * 2 ** 15)))

test('a big-endian WAV (RIFX) is refused by name', async () => {
  const bytes = wavBytes(STEREO, RATE)
  bytes.write('RIFX')
  const rifx = await save('rifx.wav', bytes)
  await assert.rejects(openMixture(rifx, NO_LIMITS), { code: 'INVALID_MEDIA', message: /RIFX/ })
})

test('NIST SPHERE in either byte order gives the samples that were written', async () => {
  const sphere = (order: '01' | '10', data: Buffer) => {
    const lines = [
      'NIST_1A\n   1024',
      `sample_count -i ${STEREO[0]!.length}`,
      'sample_n_bytes -i 2',
      'channel_count -i 2',
      `sample_byte_format -s2 ${order}`,
      `sample_rate -i ${RATE}`,
      'sample_coding -s3 pcm',
      'end_head\n',
    ]
    return Buffer.concat([Buffer.from(lines.join('\n').padEnd(1024, '\0')), data])
  }
  const big = interleaved(2, (to, x, at) => to.writeInt16BE(int16(x), at))
  const little = interleaved(2, (to, x, at) => to.writeInt16LE(int16(x), at))
  for (const bytes of [sphere('01', little), sphere('10', big)]) {
    const { planes } = await readSound(await save('speech.sph', bytes))
    for (const [channel, plane] of planes.entries()) {
      assertClose(plane, STEREO[channel]!, { absolute: HALF_STEP_16 })
    }
  }
})

/** Turns one channel into bits by first-order modulation: their mean over time is the signal. */
function oneBit(wave: Float32Array): Uint8Array {
  const bytes = new Uint8Array(wave.length / 8)
  let error = 0
  for (let i = 0; i < wave.length; i++) {
    error += wave[i]!
    const bit = error >= 0 ? 1 : 0
    error -= bit === 1 ? 1 : -1
    bytes[i >> 3]! |= bit << (7 - (i % 8))
  }
  return bytes
}

for (const [times, mixtureRate] of [
  [64, 352_800],
  [128, 705_600],
  [256, 352_800],
  [512, 352_800],
] as const) {
  test(`DSD${times} in DFF is decoded to the sound that it represents`, async () => {
    const dsdRate = times * RATE
    const bits = oneBit(sine(1000, 0.25, dsdRate).map((x) => x / 2))
    const part = (name: string, content: Buffer) => {
      const head = Buffer.alloc(12)
      head.write(name, 'latin1')
      head.writeBigUInt64BE(BigInt(content.length), 4)
      return Buffer.concat([head, content, Buffer.alloc(content.length % 2)])
    }
    const rate = Buffer.alloc(4)
    rate.writeUInt32BE(dsdRate)
    const properties = [
      Buffer.from('SND '),
      part('FS  ', rate),
      part('CHNL', Buffer.from('\0\x01C   ', 'latin1')),
      part('CMPR', Buffer.from('DSD \x0enot compressed\0', 'latin1')),
    ]
    const body = [
      Buffer.from('DSD '),
      part('FVER', Buffer.from([1, 5, 0, 0])),
      part('PROP', Buffer.concat(properties)),
      part('DSD ', Buffer.from(bits)),
    ]
    const path = await save(`studio ${times}.dff`, part('FRM8', Buffer.concat(body)))
    const { mixture, planes } = await readSound(path, { sampleRate: RATE })
    assert.equal(mixture.container, 'iff')
    assert.equal(mixture.sourceSampleRate, dsdRate / 8)
    const excerpt = planes[0]!.subarray(2_000, 8_000)
    const tone = sine(1000, 0.25, RATE)
    const shifts = Array.from({ length: 45 }, (_, i) => tone.slice(i, i + excerpt.length))
    const likeness = shifts.map((shifted) => correlation(shifted, excerpt))
    assertNear(Math.max(...likeness), 1, 0.02)
    const { mixture: own, planes: ownPlanes } = await readSound(path)
    assert.deepEqual([own.sampleRate, ownPlanes[0]!.length], [mixtureRate, mixtureRate / 4])
  })
}

const floats = [
  ['wav', 'pcm_f32le'],
  ['w64', 'pcm_f32le'],
  ['caf', 'pcm_f32be'],
  ['aiff', 'pcm_f32be'],
  ['mov', 'pcm_f32le'],
  ['matroska', 'pcm_f32le'],
] as const
for (const [container, encoder] of floats) {
  test(`${encoder} in ${container} keeps what is above full scale, to the bit`, async () => {
    const planes = STEREO.map((plane) => plane.map((x) => 4 * x))
    const audio = { planes, sampleRate: RATE, encoder }
    const sound = await readSound(await make(`loud.${container}`, container, { audio }))
    assert.deepEqual(sound.planes, planes)
  })
}
