/** The networks of a SAM-Audio checkpoint that text prompting needs. */
import type { Precision } from '../tensorflow/precision.ts'
import type { Weights } from '../checkpoint/weights.ts'
import { loadCodec } from './codec/codec.ts'
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

/** Indices of the watermark's layers within a block of the decoder. */
const WATERMARK_LAYERS = [3, 6, 7, 11]

/**
 * Declares the weights of the watermark (AudioSeal) as unused: the reference adds it to decoded
 * audio, Winnow does not.
 * @param weights of the codec's decoder
 */
function ignoreWatermark(weights: Weights, blockCount: number): void {
  for (let i = 1; i <= blockCount; i += 1) {
    for (const layer of WATERMARK_LAYERS) {
      weights.at('model').at(i).at('block').at(layer).ignoreAll()
    }
  }
  const end = weights.at('wm_model')
  end.at('encoder_block').at('pre').at(3).ignoreAll() // before it are the decoder's last layers
  end.at('encoder_block').at('post').ignoreAll()
  end.at('msg_processor').ignoreAll()
  end.at('decoder_block').ignoreAll()
}
