/** Wraps blocks of samples as FFmpeg frames. */

import { AV_SAMPLE_FMT_FLT } from 'node-av/constants'
import { type ChannelLayout, Frame } from 'node-av/lib'

/** Returns a frame with its own copy of [channels][samples], which the caller frees. */
export const frameOf = (
  block: readonly Float32Array[],
  { sampleRate, layout }: { sampleRate: number; layout: ChannelLayout },
): Frame =>
  Frame.fromAudioBuffer(bytesOf(interleaveBlock(block)), {
    nbSamples: block[0]?.length ?? 0,
    format: AV_SAMPLE_FMT_FLT,
    sampleRate,
    channelLayout: layout,
  })

/** Returns the memory of samples, without a copy. */
export const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Int32Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

function interleaveBlock(block: readonly Float32Array[]): Float32Array {
  const samples = new Float32Array((block[0]?.length ?? 0) * block.length)
  for (const [channel, plane] of block.entries()) {
    for (let i = 0, at = channel; i < plane.length; i++, at += block.length) samples[at] = plane[i]!
  }
  return samples
}
