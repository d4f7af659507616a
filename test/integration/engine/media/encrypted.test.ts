/** Encrypted media is refused before it is decoded, which would only yield noise. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { openMixture } from '../../../../engine/media/read/decode.ts'
import { measureSound } from '../../../../engine/media/read/measure.ts'
import type { Tracks } from '../../../support/media/make-media.ts'
import { noise } from '../../../support/media/signals.ts'
import { mediaFolder, NO_LIMITS, readSound } from './read-sound.ts'

const { save, make } = mediaFolder()

const RATE = 48_000
const PLANES = [noise(2, RATE), noise(2, RATE, 3)]
const REFUSED = { code: 'INVALID_MEDIA', message: /encrypted/ }

async function assertRefused(path: string): Promise<void> {
  await assert.rejects(measureSound(path, { secondsMax: 60 }), REFUSED)
  await assert.rejects(openMixture(path, NO_LIMITS), REFUSED)
}

const sound = (encoder: string) => ({ planes: PLANES, sampleRate: RATE, encoder })

const CENC = {
  encryption_scheme: 'cenc-aes-ctr',
  encryption_key: '76a6c65c5ea762046bd749a2e632ccbb',
  encryption_kid: 'a7e61c373e219033c21091fa607bf3b8',
}
const FRAGMENTED = { movflags: 'frag_keyframe+empty_moov', frag_duration: '500000' }
const VIDEO = { video: { seconds: 2, encoder: 'libx264' } }
const mp4s: [string, string, Tracks][] = [
  ['aac', 'MP4', { containerOptions: CENC }],
  ['flac', 'MP4', { containerOptions: CENC }],
  ['libopus', 'fragmented MP4', { containerOptions: { ...CENC, ...FRAGMENTED } }],
  ['aac', 'MP4 with a picture', { containerOptions: CENC, ...VIDEO }],
]
for (const [encoder, kind, more] of mp4s) {
  test(`Common Encryption: ${encoder} in ${kind}`, async () => {
    await assertRefused(await make(`${encoder} ${kind}`, 'mp4', { audio: sound(encoder), ...more }))
  })
}

for (const tag of ['drms', 'aavd', 'enca']) {
  test(`an MP4 whose sound is called ${tag}`, async () => {
    const bytes = await readFile(await make(`${tag}.m4a`, 'ipod', { audio: sound('aac') }))
    bytes.write(tag, bytes.indexOf('mp4a', bytes.indexOf('stsd')), 'latin1')
    await assertRefused(await save(`${tag}.m4a`, bytes))
  })
}

/** Makes an element of Matroska with a length of four bytes. */
function element(id: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content)
  const size = Buffer.alloc(4)
  size.writeUInt32BE(0x10000000 + body.length)
  return Buffer.concat([Buffer.from(id, 'hex'), size, body])
}

const byte = (value: number) => Buffer.from([value])
const real = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes
}

/** WebM's ContentEncodings: AES with a key of this id. */
const ENCODINGS = element(
  '6d80',
  element(
    '6240',
    element('5033', byte(1)), // encryption
    element('5035', element('47e1', byte(5)), element('47e2', Buffer.from('0123456789abcdef'))),
  ),
)

function matroska(...encodings: Buffer[]): Buffer {
  const format = [element('b5', real(RATE)), element('9f', byte(1)), element('6264', byte(16))]
  const track = element(
    'ae',
    ...[element('d7', byte(1)), element('73c5', byte(1)), element('83', byte(2))],
    ...[element('86', Buffer.from('A_PCM/INT/LIT')), element('e1', ...format), ...encodings],
  )
  const block = (i: number) => Buffer.from([0x81, (i * 100) >> 8, (i * 100) & 255, 0x80])
  const samples = Buffer.alloc((RATE / 10) * 2, 17)
  const blocks = Array.from({ length: 10 }, (_, i) => element('a3', block(i), samples))
  const info = element('1549a966', element('2ad7b1', Buffer.from([0x0f, 0x42, 0x40])))
  const cluster = element('1f43b675', element('e7', byte(0)), ...blocks)
  const head = element('1a45dfa3', element('4282', Buffer.from('matroska')))
  return Buffer.concat([head, element('18538067', info, element('1654ae6b', track), cluster)])
}

test('Matroska and WebM with an encrypted track', async () => {
  const { planes } = await readSound(await save('open.mkv', matroska()))
  assert.equal(planes[0]!.length, RATE) // the same file without encryption
  await assertRefused(await save('encrypted.mkv', matroska(ENCODINGS)))
})

/** Scrambles the packets of a transport stream that carry media, but not its tables. */
function scrambleTransport(bytes: Buffer, isScrambled: (packet: number) => boolean): Buffer {
  for (let at = 0; at < bytes.length; at += 188) {
    const pid = bytes.readUInt16BE(at + 1) & 0x1fff
    if (pid < 0x100 || pid >= 0x1000 || !isScrambled(at / 188)) continue
    bytes[at + 3]! |= 0x80
    const adaptation = bytes[at + 3]! & 0x20 ? 1 + bytes[at + 4]! : 0
    for (let i = at + 4 + adaptation; i < at + 188; i++) bytes[i]! ^= 0xa5
  }
  return bytes
}

test('a scrambled transport stream, with and without a picture; single packets do not count', async () => {
  for (const more of [{}, VIDEO]) {
    const open = await make('open.ts', 'mpegts', { audio: sound('aac'), ...more })
    const all = scrambleTransport(await readFile(open), () => true)
    await assertRefused(await save('scrambled.ts', all))
    const few = scrambleTransport(await readFile(open), (packet) => packet % 40 === 30)
    const { planes } = await readSound(await save('few.ts', few))
    assert.ok(planes[0]!.length > RATE, 'most is decoded')
  }
})

test('a program stream whose sound is scrambled, as on DVDs', async () => {
  const bytes = await readFile(await make('open.vob', 'vob', { audio: sound('ac3') }))
  assert.ok((await readSound(await save('open.vob', bytes))).planes[0]!.length > RATE)
  for (let at = bytes.indexOf('000001bd', 'hex'); at >= 0;) {
    bytes[at + 6]! |= 0x10
    at = bytes.indexOf('000001bd', at + 6 + bytes.readUInt16BE(at + 4), 'hex')
  }
  await assertRefused(await save('scrambled.vob', bytes))
})

test('ASF with a content encryption object', async () => {
  const bytes = await readFile(await make('open.wma', 'asf', { audio: sound('wmav2') }))
  const object = Buffer.alloc(24 + 16)
  object.write('fbb3112223bdd211b4b700a0c955fc6e', 'hex')
  object.writeBigUInt64LE(40n, 16)
  bytes.writeBigUInt64LE(bytes.readBigUInt64LE(16) + 40n, 16)
  bytes.writeUInt32LE(bytes.readUInt32LE(24) + 1, 24)
  const parts = [bytes.subarray(0, 30), object, bytes.subarray(30)]
  await assertRefused(await save('encrypted.wma', Buffer.concat(parts)))
})

test('FLV whose tags of sound are encrypted, with and without a picture', async () => {
  const video = { seconds: 2, encoder: 'flv' }
  for (const tracks of [{ audio: sound('aac') }, { audio: sound('aac'), video }]) {
    const bytes = await readFile(await make('open.flv', 'flv', tracks))
    assert.ok((await readSound(await save('open.flv', bytes))).planes[0]!.length > RATE)
    for (let at = 13; at < bytes.length;) {
      const size = bytes.readUIntBE(at + 1, 3)
      if (bytes[at] === 8) {
        bytes[at]! |= 0x20
        for (let i = at + 11; i < at + 11 + size; i++) bytes[i]! ^= 0xa5
      }
      at += 11 + size + 4
    }
    await assertRefused(await save('encrypted.flv', bytes))
  }
})

/** Encodes a length for MXF in four bytes. */
function berLength(length: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(0x83000000 + length)
  return bytes
}

/** Encrypts the packet of MXF at `at` as in SMPTE 429-6. */
function encryptedPacket(bytes: Buffer, at: number): Buffer {
  const key = bytes.subarray(at, at + 16)
  const item = (content: Buffer) => [berLength(content.length), content]
  const lengthBytes = 1 + (bytes[at + 16]! & 0x7f)
  const length = Number(bytes.readBigUInt64BE(at + 16 + lengthBytes - 8) & 0xffffffffn)
  const value = bytes.subarray(at + 16 + lengthBytes, at + 16 + lengthBytes + length)
  const body = Buffer.concat([
    ...item(Buffer.alloc(16, 1)), // link to the cryptographic context
    ...item(Buffer.alloc(8)), // offset of the plaintext: none
    ...item(key),
    ...item(Buffer.alloc(8, 0)),
    ...item(Buffer.from(value.map((byte) => byte ^ 0xa5))),
  ])
  const name = Buffer.from('060e2b34020401070d010301027e0100', 'hex')
  return Buffer.concat([name, berLength(body.length), body])
}

test('MXF whose packets of sound are encrypted, as in digital cinema', async () => {
  const audio = { planes: [PLANES[0]!], sampleRate: RATE, encoder: 'pcm_s16le' }
  const bytes = await readFile(await make('open.mxf', 'mxf_opatom', { audio }))
  assert.ok((await readSound(await save('open.mxf', bytes))).planes[0]!.length > RATE)
  const at = bytes.indexOf('060e2b34010201010d01030116', 0, 'hex')
  const parts = [bytes.subarray(0, at), encryptedPacket(bytes, at)]
  await assertRefused(await save('encrypted.mxf', Buffer.concat(parts)))
})
