/**
 * BS-RoFormer and Mel-Band RoFormer: estimate complex masks with transformers along time and bands.
 */
import { compiled } from '../../graph/compiled.ts'
import { frameCount } from '../../layers/framing.ts'
import { interleaveChannels, istft, separateChannels, stft } from '../../layers/stft.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { RoformerConfig } from '../config.ts'
import { bandJoin, loadBandSplit, loadMaskEstimator } from './bands.ts'
import { loadNorm } from './norm.ts'
import { loadTransformer } from './transformer.ts'

export type Network = ReturnType<typeof loadNetwork>

/** @throws Error naming weights that are missing or misshapen */
export function loadNetwork(weights: Weights, config: RoformerConfig) {
  const { dim, kind, stems, audioChannels } = config
  const split = loadBandSplit(weights.at('band_split'), config)
  const layers = loadLayers(weights, config)
  const finalNorm = kind === 'bs' ? loadNorm(weights.at('final_norm'), dim) : null
  const masks = weights.at('mask_estimators')
  const estimators = stems.map((_, i) => loadMaskEstimator(masks.at(i), config))
  const join = bandJoin(config)

  /** Returns the outputs of each layer; rows are bands along time, and frames along bands. */
  const transform = (x: Tensor): { time: Tensor; bands: Tensor }[] => {
    const [batch, frames, bands] = x.shape as [number, number, number, number]
    const outputs: { time: Tensor; bands: Tensor }[] = []
    let byFrame = x.reshape([batch * frames, bands, dim])
    for (const layer of layers) {
      const rows = byFrame.reshape([batch, frames, bands, dim])
      const byBand = tf.transpose(rows, [0, 2, 1, 3]).reshape([batch * bands, frames, dim])
      const time = layer.time.forward(byBand)
      const back = tf.transpose(time.reshape([batch, bands, frames, dim]), [0, 2, 1, 3])
      byFrame = layer.bands.forward(back.reshape([batch * frames, bands, dim]))
      outputs.push({ time, bands: byFrame })
    }
    return outputs
  }

  /**
   * Normalises the last layer's output [batch · frames, bands, dim] and splits it by batch and
   * frame.
   */
  const end = (x: Tensor, batch: number): Tensor => {
    const rows = x.reshape([batch, -1, config.bands.length, dim])
    return finalNorm ? finalNorm(rows) : rows
  }

  /**
   * Turns spectrum [batch, frames, bins · numbers] into a mask for each stem, of the same shape.
   */
  const forward = compiled((spectrum: Tensor): Tensor[] =>
    tf.tidy(() => {
      const x = end(transform(split(spectrum)).at(-1)!.bands, spectrum.shape[0]!)
      return estimators.map((estimator) => join(estimator(x)))
    }),
  )

  /**
   * Separates mixture [batch, channels, samples] into [batch, stems, channels, samples].
   * @param mixture with at most as many samples as a chunk
   */
  const separate = (mixture: Tensor): Tensor =>
    tf.tidy(() => {
      const [batch, , samples] = mixture.shape as [number, number, number]
      const spectrum = spectrumOf(mixture, config)
      const waves = Object.values(forward(spectrum)).map((mask) =>
        wavesOf(spectrum, mask, samples, config),
      )
      return tf.stack(waves, 1).reshape([batch, stems.length, audioChannels, samples])
    })

  return { split, layers, transform, end, estimators, separate }
}

function loadLayers(weights: Weights, config: RoformerConfig) {
  const { dim, heads, headDim, kind, chunkSamples, hop } = config
  const sizes = { dim, heads, headDim, endsWithNorm: kind === 'mel' }
  const framesMax = frameCount(chunkSamples, hop, 0)
  return Array.from({ length: config.depth }, (_, i) => {
    const load = (part: number, layers: number, tokensMax: number) =>
      loadTransformer(weights.at('layers').at(i).at(part), { ...sizes, layers, tokensMax })
    return {
      time: load(0, config.timeDepth, framesMax),
      bands: load(1, config.bandDepth, config.bands.length),
    }
  })
}

const framingOf = (samples: number, { hop, window }: RoformerConfig) => ({
  hop,
  window,
  frames: frameCount(samples, hop, 0),
  shift: 0,
})

/** Turns waves [batch, channels, samples] into [batch, frames, bins · channels · 2]. */
export function spectrumOf(waves: Tensor, config: RoformerConfig): Tensor {
  return tf.tidy(() => {
    const [batch, channels, samples] = waves.shape as [number, number, number]
    const framing = framingOf(samples, config)
    const complex = stft(waves.reshape([batch * channels, samples]), framing)
    return interleaveChannels(complex, channels).reshape([batch, framing.frames, -1])
  })
}

/**
 * Multiplies spectrum and mask, both in the layout of `spectrumOf`, and returns [batch, channels,
 * samples].
 */
function wavesOf(spectrum: Tensor, mask: Tensor, samples: number, config: RoformerConfig): Tensor {
  return tf.tidy(() => {
    const [batch, frames] = spectrum.shape as [number, number, number]
    const channels = config.audioChannels
    const bins = config.window / 2 + 1
    const partsOf = (x: Tensor) => separateChannels(x.reshape([batch, frames, bins, channels * 2]))
    const [a, b] = partsOf(spectrum)
    const [c, d] = partsOf(mask)
    const kept = config.silencesDc ? silenceDc(bins) : tf.ones([bins])
    const real = a.mul(c).sub(b.mul(d)).mul(kept)
    const imaginary = a.mul(d).add(b.mul(c)).mul(kept)
    const waves = istft(tf.complex(real, imaginary), framingOf(samples, config), samples)
    return waves.reshape([batch, channels, samples])
  })
}

const silenceDc = (bins: number): Tensor =>
  tf.tensor1d(Array.from({ length: bins }, (_, bin) => Number(bin > 0)))
