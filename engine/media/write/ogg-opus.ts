/** Wraps Opus packets as a complete Ogg file (RFC 3533 and 7845), in memory. */

import { crcOf } from '../crc.ts'

/** The rate in hertz at which Opus counts samples. */
export const OPUS_RATE = 48_000

export interface OpusSound {
  channels: number
  /** How many samples a player drops at the start, and how many it plays after them. */
  preSkip: number
  samples: number
  packets: readonly Buffer[]
  /** How many samples each packet decodes to. */
  packetSamples: number
}

/**
 * A page holds at most this many lengths of up to 255 bytes, and each packet needs at least one.
 */
const LACES_MAX = 255
const [FIRST_PAGE, LAST_PAGE] = [2, 4]

export function oggOpus({ channels, preSkip, samples, packets, packetSamples }: OpusSound): Buffer {
  const pages = [
    pageOf([headOf(channels, preSkip)], { sequence: 0, flags: FIRST_PAGE, position: 0 }),
    pageOf([TAGS], { sequence: 1, flags: 0, position: 0 }),
  ]
  for (let from = 0; from < packets.length;) {
    const taken = fitting(packets.slice(from))
    from += taken.length
    const isLast = from === packets.length
    pages.push(
      pageOf(taken, {
        sequence: pages.length,
        flags: isLast ? LAST_PAGE : 0,
        position: isLast ? preSkip + samples : from * packetSamples,
      }),
    )
  }
  return Buffer.concat(pages)
}

function headOf(channels: number, preSkip: number): Buffer {
  const head = Buffer.alloc(19)
  head.write('OpusHead')
  head.writeUInt8(1, 8)
  head.writeUInt8(channels, 9)
  head.writeUInt16LE(preSkip, 10)
  head.writeUInt32LE(OPUS_RATE, 12)
  return head
}

const VENDOR = 'winnow'
const TAGS = Buffer.alloc(16 + VENDOR.length)
TAGS.write('OpusTags')
TAGS.writeUInt32LE(VENDOR.length, 8)
TAGS.write(VENDOR, 12)

/** Returns the first packets, as many as fit a page. */
function fitting(packets: readonly Buffer[]): readonly Buffer[] {
  let laces = 0
  const end = packets.findIndex(({ length }) => (laces += Math.floor(length / 255) + 1) > LACES_MAX)
  return end < 0 ? packets : packets.slice(0, end)
}

interface PageOptions {
  sequence: number
  flags: number
  /** Number of samples up to the end of the page, including those that are dropped. */
  position: number
}

function pageOf(packets: readonly Buffer[], { sequence, flags, position }: PageOptions): Buffer {
  const laces = packets.flatMap(({ length }) => [
    ...Array.from({ length: Math.floor(length / 255) }, () => 255),
    length % 255,
  ])
  const head = Buffer.alloc(27)
  head.write('OggS')
  head.writeUInt8(flags, 5)
  head.writeBigUInt64LE(BigInt(position), 6)
  head.writeUInt32LE(1, 14) // serial number of the only stream
  head.writeUInt32LE(sequence, 18)
  head.writeUInt8(laces.length, 26)
  const page = Buffer.concat([head, Buffer.from(laces), ...packets])
  page.writeUInt32LE(crcOf(page, 0), 22)
  return page
}
