/** Reads the pictures of a video with their times, and makes sound to align with them. */

import { createHash } from 'node:crypto'
import { AV_PKT_DATA_DISPLAYMATRIX } from 'node-av/constants'
import { avGetCodecName, Codec, CodecContext, Frame } from 'node-av/lib'
import { isVideo, startSecondsOf } from '../../../engine/media/read/open-media.ts'
import { PacketReader } from '../../../engine/media/read/packet-reader.ts'
import { chirp, noise } from './signals.ts'

/** Returns a chirp with one loud 5 ms burst of noise, which starts at `at`. */
export function clickedChirp(seconds: number, sampleRate: number, at: number): Float32Array {
  const burst = noise(seconds, sampleRate)
  const isBurst = (time: number) => time >= at && time < at + 0.005
  return chirp(seconds, sampleRate).map((x, i) =>
    isBurst(i / sampleRate) ? 1.9 * burst[i]! : 0.3 * x,
  )
}

/** Returns when the click starts, in seconds. */
export const clickOf = (wave: Float32Array, sampleRate: number): number =>
  wave.findIndex((x) => Math.abs(x) > 0.35) / sampleRate

export interface Pictures {
  codec: string
  /** Hexadecimal; null if the picture is upright. */
  displayMatrix: string | null
  title: string | null
  /** Hash of each packet's payload, in order. */
  pictures: string[]
  /** When each picture is shown, in order, in seconds from the start of the media. */
  times: number[]
  /** Brightness of each picture, in the order of `times`. */
  lights: number[]
  /** When the brightest picture is shown. */
  flash: number
  /** When the last picture ends. */
  seconds: number
}

export async function readVideo(path: string): Promise<Pictures> {
  const reader = await PacketReader.open(path, isVideo)
  const { stream, packet, context } = reader
  const codec = Codec.findDecoder(stream.codecpar.codecId)!
  const decoder = new CodecContext()
  decoder.allocContext3(codec)
  decoder.parametersToContext(stream.codecpar)
  decoder.pktTimebase = stream.timeBase
  await decoder.open2(codec)
  const frame = new Frame()
  frame.alloc()
  const { num, den } = stream.timeBase
  const seconds = (time: bigint) => (Number(time) * num) / den - startSecondsOf(context)
  const found: Pictures = {
    codec: avGetCodecName(codec.id)!,
    displayMatrix:
      stream.codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX)?.toString('hex') ?? null,
    title: context.metadata?.get('title') ?? null,
    pictures: [],
    times: [],
    lights: [],
    flash: -1,
    seconds: 0,
  }
  let brightest = 0
  for (let more = true; more;) {
    more = await reader.next()
    if (more) found.pictures.push(createHash('sha1').update(bare(packet.data!)).digest('hex'))
    await decoder.sendPacket(more ? packet : null)
    while ((await decoder.receiveFrame(frame)) >= 0) {
      const time = seconds(frame.bestEffortTimestamp)
      const light = frame.data![0]!.subarray(0, 40).reduce((sum, x) => sum + x, 0)
      if (light > brightest) [brightest, found.flash] = [light, time]
      found.times.push(time)
      found.lights.push(light)
      found.seconds = Math.max(found.seconds, time + (Number(frame.duration) * num) / den)
    }
  }
  frame.free()
  decoder.freeContext()
  await reader.close()
  return found
}

/**
 * Returns a packet's payload: for H.264 and HEVC, its units without their start codes or lengths.
 */
function bare(data: Buffer): Buffer {
  const text = data.toString('latin1')
  if (!/^\0\0\0?\x01/.test(text)) return unitsByLength(data)
  const units = text.split(/\0*\0\0\x01/).filter((unit) => unit.length > 0)
  return Buffer.from(units.join(''), 'latin1')
}

function unitsByLength(data: Buffer): Buffer {
  const units: Buffer[] = []
  for (let at = 0; at < data.length;) {
    if (at + 4 > data.length || at + 4 + data.readUInt32BE(at) > data.length) return data // has no units
    const length = data.readUInt32BE(at)
    units.push(data.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return Buffer.concat(units)
}
