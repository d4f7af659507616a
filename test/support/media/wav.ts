/**
 * Writes and reads WAV without FFmpeg, so that tests check the engine's FFmpeg against independent
 * code.
 */

import type { Planes } from './signals.ts'

const CODINGS = {
  pcm16: { tag: 1, bytes: 2, write: writeInt16 },
  pcm24: { tag: 1, bytes: 3, write: writeInt24 },
  float32: { tag: 3, bytes: 4, write: writeFloat32 },
}

const clip = (x: number, bits: number): number =>
  Math.max(-(2 ** bits), Math.min(2 ** bits - 1, Math.round(x * 2 ** bits)))

function writeInt16(to: DataView, at: number, x: number): void {
  to.setInt16(at, clip(x, 15), true)
}

function writeFloat32(to: DataView, at: number, x: number): void {
  to.setFloat32(at, x, true)
}

function writeInt24(to: DataView, at: number, x: number): void {
  const level = clip(x, 23)
  to.setUint16(at, level & 0xffff, true)
  to.setInt8(at + 2, level >> 16)
}

/** Makes a WAV file; with `mask`, its header names the loudspeakers. */
export function wavBytes(
  planes: Planes,
  sampleRate: number,
  coding: keyof typeof CODINGS = 'pcm16',
  mask?: number,
): Buffer {
  const { tag, bytes, write } = CODINGS[coding]
  const channels = planes.length
  const samples = planes[0]?.length ?? 0
  const dataBytes = samples * channels * bytes
  const format = Buffer.alloc(mask === undefined ? 16 : 40)
  format.writeUInt16LE(mask === undefined ? tag : 0xfffe, 0)
  format.writeUInt16LE(channels, 2)
  format.writeUInt32LE(sampleRate, 4)
  format.writeUInt32LE(sampleRate * channels * bytes, 8)
  format.writeUInt16LE(channels * bytes, 12)
  format.writeUInt16LE(bytes * 8, 14)
  if (mask !== undefined) {
    format.writeUInt16LE(22, 16)
    format.writeUInt16LE(bytes * 8, 18)
    format.writeUInt32LE(mask, 20)
    format.writeUInt16LE(tag, 24)
    format.write('000000001000800000aa00389b71', 26, 'hex')
  }
  const data = new DataView(new ArrayBuffer(dataBytes))
  for (let i = 0; i < samples; i++) {
    for (let c = 0; c < channels; c++) write(data, (i * channels + c) * bytes, planes[c]![i]!)
  }
  const body = [riffChunk('fmt ', format), riffChunk('data', Buffer.from(data.buffer))]
  return riffChunk('RIFF', Buffer.concat([Buffer.from('WAVE'), ...body]))
}

function riffChunk(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(name, 'latin1')
  head.writeUInt32LE(content.length, 4)
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)])
}

export interface Wav {
  sampleRate: number
  bits: number
  /** 0 if the header names no loudspeakers. */
  mask: number
  planes: Float32Array[]
}

/** Reads a WAV file of 24-bit PCM. */
export function readWav24(file: Buffer): Wav {
  const chunks = new Map<string, Buffer>()
  for (let at = 12; at + 8 <= file.length;) {
    const size = file.readUInt32LE(at + 4)
    chunks.set(file.toString('latin1', at, at + 4), file.subarray(at + 8, at + 8 + size))
    at += 8 + size + (size % 2)
  }
  const format = chunks.get('fmt ')!
  const data = chunks.get('data')!
  const channels = format.readUInt16LE(2)
  const planes = Array.from({ length: channels }, (_, c) =>
    Float32Array.from(
      { length: data.length / 3 / channels },
      (_, i) => data.readIntLE((i * channels + c) * 3, 3) / 2 ** 23,
    ),
  )
  return {
    sampleRate: format.readUInt32LE(4),
    bits: format.readUInt16LE(14),
    mask: format.length >= 40 ? format.readUInt32LE(20) : 0,
    planes,
  }
}
