/** Writes buffers as WAV files. */

import { planesOf } from './decode.ts'

const HEADER_BYTES = 44
const SAMPLE_BYTES = 3
const FULL_SCALE = 2 ** 23

/** Writes 24-bit PCM; samples beyond full scale are clipped. */
export function encodeWav(buffer: AudioBuffer): Blob {
  const { numberOfChannels: channels, sampleRate, length } = buffer
  const dataBytes = length * channels * SAMPLE_BYTES
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + dataBytes))
  const text = (offset: number, value: string) => {
    for (let i = 0; i < value.length; i += 1) view.setUint8(offset + i, value.charCodeAt(i))
  }
  text(0, 'RIFF')
  view.setUint32(4, HEADER_BYTES - 8 + dataBytes, true)
  text(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true) // PCM
  view.setUint16(22, channels, true)
  view.setUint32(24, sampleRate, true)
  view.setUint32(28, sampleRate * channels * SAMPLE_BYTES, true)
  view.setUint16(32, channels * SAMPLE_BYTES, true)
  view.setUint16(34, 8 * SAMPLE_BYTES, true)
  text(36, 'data')
  view.setUint32(40, dataBytes, true)
  writeSamples(view, planesOf(buffer))
  return new Blob([view.buffer], { type: 'audio/wav' })
}

function writeSamples(view: DataView, planes: readonly Float32Array[]): void {
  let offset = HEADER_BYTES
  for (let i = 0; i < planes[0]!.length; i += 1) {
    for (const plane of planes) {
      const scaled = Math.round(plane[i]! * FULL_SCALE)
      const sample = Math.min(FULL_SCALE - 1, Math.max(-FULL_SCALE, scaled))
      view.setUint16(offset, sample & 0xffff, true)
      view.setInt8(offset + 2, sample >> 16)
      offset += SAMPLE_BYTES
    }
  }
}
