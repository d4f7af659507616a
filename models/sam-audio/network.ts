/** The networks of one SAM-Audio checkpoint that text prompting needs. */
import type { Precision } from '../tensorflow/precision.ts'
import type { Weights } from '../checkpoint/weights.ts'
import { loadCodec } from './codec/codec.ts'
import { ignoreWatermark } from './codec/watermark.ts'
import type { SamAudioConfig } from './config.ts'
import { loadVelocity } from './flow/velocity.ts'

export type Network = ReturnType<typeof loadNetwork>

/** @throws Error naming weights that are missing, misshapen or unread */
export function loadNetwork(
  weights: Weights,
  config: SamAudioConfig,
  precision: Precision = 'float32',
) {
  const codecWeights = weights.at('audio_codec')
  const codec = loadCodec(codecWeights, config.codec)
  ignoreWatermark(codecWeights.at('decoder'), config.codec.decoderRates.length)
  const velocity = loadVelocity(weights, config, precision)
  weights.at('vision_encoder').ignoreAll()
  weights.assertAllRead()
  return { codec, velocity }
}
