/**
 * Bandit v2: complex masks from recurrent layers along time and bands (K. Watcharasupat, C.-W. Wu,
 * I. Orife, "Remastering Divide and Remaster: A Cinematic Audio Source Separation Dataset with
 * Multilingual Support", 2024).
 */
import type { Weights } from '../../checkpoint/weights.ts'
import { compiled } from '../../graph/compiled.ts'
import { loadLayerNorm, loadLinear } from '../../layers/layers.ts'
import { frameCount } from '../../layers/framing.ts'
import { interleaveChannels, istft, separateChannels, stft } from '../../layers/stft.ts'
import { tf, transpose, type Tensor } from '../../tensorflow/tensor.ts'
import type { BanditConfig } from '../config.ts'
import { EPSILON, loadBandSplit, loadMaskEstimator } from './bands.ts'
import { loadGru } from './gru.ts'

export type Network = ReturnType<typeof loadNetwork>

/** @throws Error naming weights that are missing or misshapen */
export function loadNetwork(weights: Weights, config: BanditConfig) {
  const split = loadBandSplit(weights.at('band_split').at('norm_fc_modules'), config)
  // Layers with odd numbers turn two axes, and have no weights.
  const layers = Array.from({ length: 2 * config.depth }, (_, i) =>
    loadLayer(
      weights
        .at('tf_model')
        .at('seqband')
        .at(2 * i),
      config,
    ),
  )
  const masks = weights.at('mask_estim')
  const estimators = config.stems.map((stem) =>
    loadMaskEstimator(masks.at(stem).at('norm_mlp'), config),
  )
  const bandsOf = compiled((spectrum: Tensor) => split(spectrum))
  const masksOf = compiled((x: Tensor) => estimators.map((estimator) => estimator(x)))

  /** Goes on from [batch, bands, frames, dim]; each layer's output, as the next one takes it. */
  function* transform(x: Tensor): Generator<Tensor> {
    let input = x.clone()
    for (const { forward } of layers) {
      const output = tf.tidy(() => transpose(forward(input), [0, 2, 1, 3]))
      input.dispose()
      yield output
      input = output
    }
  }

  /** mixture [batch, 1, samples] to [batch, stems, 1, samples]. */
  const separate = (mixture: Tensor): Tensor =>
    tf.tidy(() => {
      const spectrum = spectrumOf(mixture, config)
      let x = bandsOf(spectrum)
      for (const output of transform(x)) x = output
      const waves = Object.values(masksOf(x)).map((mask) =>
        waveOf(spectrum, mask, mixture.shape[2]!, config),
      )
      return tf.stack(waves, 1)
    })

  return { split, layers, transform, estimators, separate }
}

/** x [batch, rows, steps, dim], shape as it is: each row by itself. */
function loadLayer(weights: Weights, { dim, hiddenDim }: BanditConfig) {
  const norm = loadLayerNorm(weights.at('norm'), dim, EPSILON)
  const gru = loadGru(weights.at('rnn'), dim, hiddenDim)
  const linear = loadLinear(weights.at('fc'), 2 * hiddenDim, dim)
  const forward = (x: Tensor): Tensor =>
    tf.tidy(() => {
      const [batch, rows, steps] = x.shape as [number, number, number, number]
      const answer = linear(gru(norm(x.reshape([batch * rows, steps, dim]))))
      return x.add(answer.reshape(x.shape))
    })
  return { norm, gru, forward }
}

/** torch.stft's `normalized` of torchaudio: the length of the window, a periodic Hann window. */
const scaleOf = ({ window }: BanditConfig): number => Math.sqrt((3 / 8) * window)

const framingOf = (samples: number, { hop }: BanditConfig) => ({
  hop,
  frames: frameCount(samples, hop, 0),
  shift: 0,
})

/** waves [batch, 1, samples] to [batch, frames, bins · 2]. */
export const spectrumOf = (waves: Tensor, config: BanditConfig): Tensor =>
  tf.tidy(() => {
    const [batch, , samples] = waves.shape as [number, number, number]
    const framing = framingOf(samples, config)
    const complex = stft(waves.reshape([batch, samples]), framing)
    const parts = interleaveChannels(complex, 1).div(scaleOf(config))
    return parts.reshape([batch, framing.frames, -1])
  })

/** spectrum times mask, both [batch, frames, bins · 2], to [batch, 1, samples]. */
function waveOf(spectrum: Tensor, mask: Tensor, samples: number, config: BanditConfig): Tensor {
  return tf.tidy(() => {
    const [batch, frames] = spectrum.shape as [number, number, number]
    const partsOf = (x: Tensor) => separateChannels(x.reshape([batch, frames, -1, 2]))
    const [a, b] = partsOf(spectrum.mul(scaleOf(config)))
    const [c, d] = partsOf(mask)
    const product = tf.complex(a.mul(c).sub(b.mul(d)), a.mul(d).add(b.mul(c)))
    return istft(product, framingOf(samples, config), samples).expandDims(1)
  })
}
