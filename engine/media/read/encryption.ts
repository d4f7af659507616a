/** Recognises encrypted media, which would decode to noise or nothing. */

import { open } from 'node:fs/promises'
import { AV_PKT_DATA_ENCRYPTION_INFO, AVMEDIA_TYPE_AUDIO } from 'node-av/constants'
import type { FormatContext, Packet, Stream } from 'node-av/lib'
import { ServiceError } from '../../../shared/errors.ts'
import { transportPackets } from './transport-stream.ts'

/** How many bytes of a file are searched for signs of encryption. */
const SEARCHED_BYTES_MAX = 4 * 2 ** 20

/** MP4's names for sound under Common Encryption, FairPlay and Audible's scheme. */
const ENCRYPTED_TAGS: readonly (string | null)[] = ['enca', 'drms', 'aavd']

/** Stream types of Apple's SAMPLE-AES in MPEG-TS: AAC, AC-3 and E-AC-3. */
const SAMPLE_AES_TYPES: readonly number[] = [0xcf, 0xc1, 0xc2]

/** GUIDs of ASF's Content Encryption Object and its extended form. */
const ASF_ENCRYPTION = ['fbb3112223bdd211b4b700a0c955fc6e', '14e68a292226174cb935dae07ee9289c'].map(
  (hex) => Buffer.from(hex, 'hex'),
)

/** SMPTE 429-6: the key of an encrypted packet, and how the key of a sound in it begins. */
const MXF_ENCRYPTED = Buffer.from('060e2b34020401070d010301027e0100', 'hex')
const MXF_SOUNDS = ['06', '16'].map((item) => Buffer.from(`060e2b34010201010d010301${item}`, 'hex'))
/** Up to the end of the key of what is encrypted, including all lengths. */
const MXF_PACKET_HEAD_BYTES = 112

const encryptedError = (): ServiceError =>
  new ServiceError('INVALID_MEDIA', {
    message:
      'The sound is encrypted (copy protection or conditional access), and cannot be decoded ' +
      'without its key; send a copy that is not protected.',
  })

/**
 * Refuses a file whose headers, or flags in MPEG packets, say that its sound is encrypted.
 * @param start offset of its first byte in `path`
 * @throws ServiceError INVALID_MEDIA
 */
export async function assertNotEncrypted(
  context: FormatContext,
  path: string,
  start = 0,
): Promise<void> {
  const container = context.iformat?.name ?? ''
  const sounds = context.streams.filter(({ codecpar }) => codecpar.codecType === AVMEDIA_TYPE_AUDIO)
  if (sounds.some((stream) => isMarked(stream, container))) throw encryptedError()
  const search = SEARCHES[container]
  if (search?.(await headOf(path, start), sounds)) throw encryptedError()
}

/**
 * Refuses an encrypted packet, because an MP4 may start with packets that are not encrypted.
 * @throws ServiceError INVALID_MEDIA
 */
export function assertPacketNotEncrypted(packet: Packet): void {
  if (packet.getSideData(AV_PKT_DATA_ENCRYPTION_INFO)) throw encryptedError()
}

function isMarked({ codecpar, metadata }: Stream, container: string): boolean {
  if (metadata?.get('enc_key_id')) return true // Matroska
  return container === 'mpegts'
    ? SAMPLE_AES_TYPES.includes(codecpar.codecTag)
    : ENCRYPTED_TAGS.includes(codecpar.codecTagString)
}

const SEARCHES: Readonly<Record<string, (head: Buffer, sounds: readonly Stream[]) => boolean>> = {
  mpegts: (head, sounds) => isMajority(scrambledPackets(head, new Set(sounds.map(({ id }) => id)))),
  mpeg: (head) => isMajority(programPackets(head)),
  asf: (head) => {
    const header = head.subarray(0, Number(head.readBigUInt64LE(16)))
    return ASF_ENCRYPTION.some((guid) => header.includes(guid))
  },
  flv: (head) => isMajority(flashTags(head)),
  mxf: isMxfEncrypted,
}

/** Whether most of some packets are scrambled; single ones may just be damaged. */
function isMajority(scrambled: Iterable<boolean>): boolean {
  let balance = 0
  for (const is of scrambled) balance += is ? 1 : -1
  return balance > 0
}

const NULL_PACKETS = 0x1fff

/**
 * Yields whether each packet of a transport stream is scrambled.
 * @param pids of the packets that count; if empty, all count
 */
function* scrambledPackets(bytes: Buffer, pids: ReadonlySet<number>): Generator<boolean> {
  for (const { pid, isScrambled, payload } of transportPackets(bytes)) {
    const counts = pids.size > 0 ? pids.has(pid) : pid !== NULL_PACKETS
    if (payload.length > 0 && counts) yield isScrambled
  }
}

const START_CODE = Buffer.from([0, 0, 1])
const PRIVATE_STREAM = 0xbd
const isSound = (id: number): boolean => id === PRIVATE_STREAM || (id >= 0xc0 && id <= 0xdf)

/** Yields whether each sound packet in an MPEG-2 program stream is scrambled, as on DVDs. */
function* programPackets(bytes: Buffer): Generator<boolean> {
  for (let at = bytes.indexOf(START_CODE); at >= 0 && at + 7 <= bytes.length;) {
    const flags = bytes[at + 6]!
    const isPacket = isSound(bytes[at + 3]!) && flags >> 6 === 2
    if (isPacket) yield ((flags >> 4) & 3) !== 0
    const next = isPacket ? at + 6 + bytes.readUInt16BE(at + 4) : at + START_CODE.length
    at = bytes.indexOf(START_CODE, next)
  }
}

/** Flag of an FLV tag that marks it as encrypted; the other bits are its type. */
const FLASH_FILTER = 0x20
const FLASH_SOUND = 8

/** Yields whether each sound tag in an FLV file is encrypted, as by Adobe's servers. */
function* flashTags(bytes: Buffer): Generator<boolean> {
  for (let at = bytes.readUInt32BE(5) + 4; at + 11 <= bytes.length;) {
    const type = bytes[at]!
    if ((type & 0x1f) === FLASH_SOUND) yield (type & FLASH_FILTER) !== 0
    at += 11 + bytes.readUIntBE(at + 1, 3) + 4
  }
}

/** Whether a sound packet is encrypted, as in digital cinema. */
function isMxfEncrypted(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(MXF_ENCRYPTED); at >= 0;) {
    const head = bytes.subarray(at, at + MXF_PACKET_HEAD_BYTES)
    if (MXF_SOUNDS.some((key) => head.includes(key))) return true
    at = bytes.indexOf(MXF_ENCRYPTED, at + 1)
  }
  return false
}

async function headOf(path: string, start: number): Promise<Buffer> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const bytes = Buffer.alloc(Math.min(size - start, SEARCHED_BYTES_MAX))
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
    return bytes.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
