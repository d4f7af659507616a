/** The cover picture of a source, for its outputs. It is copied, never decoded. */

import {
  AV_CODEC_ID_MJPEG,
  AV_CODEC_ID_PNG,
  AV_DISPOSITION_ATTACHED_PIC,
  AV_PKT_FLAG_KEY,
  AVMEDIA_TYPE_VIDEO,
  type AVCodecID,
} from 'node-av/constants'
import { Dictionary, FormatContext, Packet, type Stream } from 'node-av/lib'
import { check } from '../ffmpeg.ts'
import { isReadOrThrow, openInput } from './open-media.ts'

/** In pixels. */
interface Size {
  width: number
  height: number
}

export interface Cover extends Size {
  kind: Kind
  bytes: Uint8Array
}

type Kind = 'jpeg' | 'png'

/** Larger ones are left out: FLAC holds up to 16 MiB, and each output of a job has the picture. */
export const COVER_BYTES_MAX = 4 * 2 ** 20

const CODECS: Readonly<Record<Kind, AVCodecID>> = { jpeg: AV_CODEC_ID_MJPEG, png: AV_CODEC_ID_PNG }

/** The type of a picture in ID3 and FLAC; FFmpeg stores it as the stream's comment. */
const FRONT = 'Cover (front)'

/**
 * Returns the front cover of a file, or else its first picture of a kind that outputs can hold.
 * When a file is reopened, FFmpeg returns its pictures before all other packets.
 * @param streams of the file, already analysed
 */
export async function readCover(path: string, streams: readonly Stream[]): Promise<Cover | null> {
  const pictures = streams.filter((stream) => stream.hasDisposition(AV_DISPOSITION_ATTACHED_PIC))
  if (pictures.length === 0) return null
  const bytes = await readFirst(path, new Set(pictures.map(({ index }) => index)))
  const isFront = ({ metadata }: Stream) => metadata?.get('comment') === FRONT
  for (const { index } of [...pictures.filter(isFront), ...pictures]) {
    const cover = coverOf(bytes.get(index) ?? Buffer.alloc(0))
    if (cover) return cover
  }
  return null
}

/** Returns the packets of these streams, up to the first packet of another one. */
async function readFirst(path: string, indexes: ReadonlySet<number>): Promise<Map<number, Buffer>> {
  const context = new FormatContext()
  const packet = new Packet()
  packet.alloc()
  const packets = new Map<number, Buffer>()
  try {
    if ((await openInput(context, path, { decoders: [] })) < 0) return packets
    while (isReadOrThrow(await context.readFrame(packet)) && indexes.has(packet.streamIndex)) {
      const { streamIndex, size, data } = packet
      if (data && size <= COVER_BYTES_MAX) packets.set(streamIndex, Buffer.from(data))
      packet.unref()
    }
    return packets
  } finally {
    packet.free()
    await context.closeInput()
  }
}

/** Null unless the bytes are a picture of a kind that outputs can hold. */
function coverOf(bytes: Buffer): Cover | null {
  const jpeg = jpegSize(bytes)
  if (jpeg) return { kind: 'jpeg', bytes, ...jpeg }
  const png = pngSize(bytes)
  return png && { kind: 'png', bytes, ...png }
}

/** Reads the size from the first frame header, skipping each segment before it by its length. */
function jpegSize(bytes: Buffer): Size | null {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1]!
    if (FRAME_MARKERS.has(marker)) {
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    }
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return null
}

/** SOF0 to SOF15, except for those that mark tables (ITU-T T.81, table B.1). */
const FRAME_MARKERS = new Set(
  [0, 1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15].map((number) => 0xc0 + number),
)

const PNG_MARK = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')

function pngSize(bytes: Buffer): Size | null {
  if (bytes.length < 24 || !bytes.subarray(0, PNG_MARK.length).equals(PNG_MARK)) return null
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

/** Adds a stream for the cover, before the header is written. */
export function addCoverStream(context: FormatContext, cover: Cover): Stream {
  const stream = context.newStream()
  const { codecpar } = stream
  codecpar.codecType = AVMEDIA_TYPE_VIDEO
  codecpar.codecId = CODECS[cover.kind]
  codecpar.width = cover.width
  codecpar.height = cover.height
  stream.setDisposition(AV_DISPOSITION_ATTACHED_PIC)
  const type = Dictionary.fromObject({ comment: FRONT })
  stream.metadata = type
  type.free()
  return stream
}

/** Writes the picture, before any sound. */
export async function writeCover(
  context: FormatContext,
  stream: Stream,
  { bytes }: Cover,
): Promise<void> {
  const packet = new Packet()
  packet.alloc()
  try {
    packet.data = Buffer.from(bytes)
    packet.streamIndex = stream.index
    packet.pts = packet.dts = 0n
    packet.setFlags(AV_PKT_FLAG_KEY)
    check(await context.writeFrame(packet), 'write the cover')
  } finally {
    packet.free()
  }
}
