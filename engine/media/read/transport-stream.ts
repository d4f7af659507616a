/** Reads the packets of an MPEG transport stream, and the maps that list its streams. */

import { crcOf } from '../crc.ts'

const PACKET_BYTES = 188
/** Possible distances between packets: bare, with a timestamp, with a checksum. */
const STEPS = [188, 192, 204]
const SYNC = 0x47
/** Including its header and checksum. */
const SECTION_BYTES_MAX = 1_024

export interface TransportPacket {
  /** Its offset in the bytes. */
  at: number
  pid: number
  isScrambled: boolean
  /** Whether a unit begins in it. */
  isFirst: boolean
  /** Empty if it has none. */
  payload: Buffer
}

/** Whether a file that starts like this may be a transport stream. */
export const mayBeTransportStream = (head: Buffer): boolean => head[0] === SYNC || head[4] === SYNC

/** Yields the complete packets in some bytes, and skips anything else. */
export function* transportPackets(bytes: Buffer): Generator<TransportPacket> {
  for (let at = bytes.indexOf(SYNC); at >= 0 && at + PACKET_BYTES <= bytes.length;) {
    const step = STEPS.find((step) => (bytes[at + step] ?? SYNC) === SYNC)
    if (step !== undefined) yield packetAt(bytes, at)
    at = bytes.indexOf(SYNC, at + (step ?? 1))
  }
}

function packetAt(bytes: Buffer, at: number): TransportPacket {
  const flags = bytes[at + 3]!
  const adaptationBytes = (flags & 0x20) === 0 ? 0 : 1 + bytes[at + 4]!
  const end = at + PACKET_BYTES
  const start = (flags & 0x10) === 0 ? end : Math.min(end, at + 4 + adaptationBytes)
  return {
    at,
    pid: bytes.readUInt16BE(at + 1) & 0x1fff,
    isScrambled: flags >> 6 !== 0,
    isFirst: (bytes[at + 1]! & 0x40) !== 0,
    payload: bytes.subarray(start, end),
  }
}

/** Reads bytes of a file from an offset: at least `count`, unless the file ends. */
type ReadBytes = (at: number, count: number) => Promise<Buffer>

/**
 * Finds the offset at which a sound or a picture disappears from the map of its programme, for
 * example where recordings of two stations were concatenated. FFmpeg ignores the streams that are
 * new there. Infinity if there is none.
 */
export async function programmeChange(read: ReadBytes, start: number): Promise<number> {
  const maps = new ProgrammeMaps()
  /** Offset of the table of programmes, if only tables lie between it and the packet. */
  let table: number | null = null
  for (let at = start; ;) {
    const bytes = await read(at, STEPS.at(-1)! + PACKET_BYTES)
    if (bytes.length < PACKET_BYTES) return Infinity
    let end = bytes.length - PACKET_BYTES + 1
    for (const packet of transportPackets(bytes)) {
      end = packet.at + PACKET_BYTES
      if (!maps.isTable(packet.pid)) table = null
      else if (maps.isChangedBy(packet)) return table ?? at + packet.at
      else if (packet.pid === PROGRAMMES) table ??= at + packet.at
    }
    at += end
  }
}

/** PID of the table of programmes. */
const PROGRAMMES = 0
/** PIDs of other tables. */
const TABLES_MAX = 0x1f

class ProgrammeMaps {
  /** By PID: the part of a table read so far, and the last complete one. */
  readonly #unfinished = new Map<number, Buffer>()
  readonly #last = new Map<number, Buffer>()
  /** PIDs of maps. */
  #programmes: readonly number[] = []
  /** Sounds and pictures in the first map of each programme. */
  readonly #media = new Map<number, readonly string[]>()

  isTable(pid: number): boolean {
    return pid <= TABLES_MAX || this.#programmes.includes(pid)
  }

  /**
   * Takes a packet of a table; returns true if it completes a table from which something has
   * disappeared.
   */
  isChangedBy({ pid, isFirst, payload }: TransportPacket): boolean {
    if (pid !== PROGRAMMES && !this.#programmes.includes(pid)) return false
    const before = isFirst ? Buffer.alloc(0) : this.#unfinished.get(pid)
    if (!before || payload.length === 0) return false
    const section = Buffer.concat([before, isFirst ? payload.subarray(1 + payload[0]!) : payload])
    const isWhole = section.length >= 3 && section.length >= bytesOf(section)
    if (!isWhole && section.length < SECTION_BYTES_MAX) {
      this.#unfinished.set(pid, section)
      return false
    }
    this.#unfinished.delete(pid)
    return isWhole && this.#take(pid, section.subarray(0, bytesOf(section)))
  }

  #take(pid: number, section: Buffer): boolean {
    if (this.#last.get(pid)?.equals(section) || !isIntact(section)) return false
    this.#last.set(pid, section)
    if (pid === PROGRAMMES) {
      this.#programmes = [...programmesIn(section)]
      return [...this.#media.keys()].some((programme) => !this.#programmes.includes(programme))
    }
    const media = [...mediaIn(section)]
    const before = this.#media.get(pid)
    if (!before && media.length > 0) this.#media.set(pid, media)
    return before?.some((track) => !media.includes(track)) ?? false
  }
}

const bytesOf = (section: Buffer): number => 3 + (section.readUInt16BE(1) & 0xfff)
const SECTION_HEAD_BYTES = 8
const CHECKSUM_BYTES = 4

/** PIDs of the maps in a table of programmes. */
function* programmesIn(table: Buffer): Generator<number> {
  if (table[0] !== 0) return
  for (let at = SECTION_HEAD_BYTES; at + 4 <= table.length - CHECKSUM_BYTES; at += 4) {
    const isProgramme = table.readUInt16BE(at) !== 0
    if (isProgramme) yield table.readUInt16BE(at + 2) & 0x1fff
  }
}

/** Stream types of ISO/IEC 13818-1, ATSC and Blu-ray. */
const PICTURES: readonly number[] = [0x01, 0x02, 0x10, 0x1b, 0x20, 0x21, 0x24, 0x33, 0x42, 0xea]
const SOUNDS: readonly number[] = [0x03, 0x04, 0x0f, 0x11, 0x1c, 0x81, 0x82, 0x83, 0x84, 0x85, 0x87]
/** The type of streams that are named by their descriptors: DVB sound, and codecs by name. */
const PRIVATE = 0x06
const DVB_SOUNDS: readonly number[] = [0x6a, 0x7a, 0x7b, 0x7c]
const NAME = 0x05
const NAMED_SOUNDS: readonly string[] = ['AC-3', 'EAC3', 'BSSD', 'Opus', 'DTS1', 'DTS2', 'DTS3']

/** Yields PID and codec of each sound and picture in a map. */
function* mediaIn(map: Buffer): Generator<string> {
  if (map[0] !== 2) return
  for (let at = 12 + lengthAt(map, 10); at + 5 <= map.length - CHECKSUM_BYTES;) {
    const coding = codingOf(map[at]!, map.subarray(at + 5, at + 5 + lengthAt(map, at + 3)))
    if (coding !== null) yield `${map.readUInt16BE(at + 1) & 0x1fff} ${coding}`
    at += 5 + lengthAt(map, at + 3)
  }
}

const lengthAt = (map: Buffer, at: number): number => map.readUInt16BE(at) & 0xfff

function codingOf(type: number, descriptors: Buffer): string | number | null {
  if (type !== PRIVATE) return PICTURES.includes(type) || SOUNDS.includes(type) ? type : null
  for (let at = 0; at + 2 <= descriptors.length; at += 2 + descriptors[at + 1]!) {
    const tag = descriptors[at]!
    const name = descriptors.toString('latin1', at + 2, at + 6)
    if (DVB_SOUNDS.includes(tag)) return tag
    if (tag === NAME && NAMED_SOUNDS.includes(name)) return name
  }
  return null
}

/** Whether the checksum at the end of a section is correct; damaged tables may say anything. */
const isIntact = (section: Buffer): boolean =>
  section.length >= SECTION_HEAD_BYTES + CHECKSUM_BYTES && crcOf(section, 0xffffffff) === 0
