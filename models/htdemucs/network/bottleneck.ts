/** The transformer between encoders and decoders, which turns the branches into tokens and back. */
import { loadLayerNorm, loadPointwise, type Layer } from '../../layers/layers.ts'
import { upload } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { HTDemucsConfig } from '../config.ts'
import { spectrumFrames } from '../spectrum.ts'
import type { Branches } from './branches.ts'
import { STRIDE } from './convolution.ts'
import { EPSILON } from '../../layers/norms.ts'
import { positionsInSpectrogram, positionsInTime } from './positions.ts'
import { loadTransformer, type Tokens } from './transformer.ts'

/** @param channels output channels of the last encoder */
export function loadBottleneck(weights: Weights, config: HTDemucsConfig, channels: number) {
  const { bottomChannels, depth, heads, hiddenScale, segmentSamples, window } = config
  const dim = bottomChannels || channels
  const resize = (name: string, inDim: number, outDim: number): Layer =>
    bottomChannels ? loadPointwise(weights.at(name), inDim, outDim, 1) : (x) => x.clone()
  const widen = resize('channel_upsampler', channels, dim)
  const widenWaveform = resize('channel_upsampler_t', channels, dim)
  const cross = weights.at('crosstransformer')
  const norm = loadLayerNorm(cross.at('norm_in'), dim, EPSILON)
  const normWaveform = loadLayerNorm(cross.at('norm_in_t'), dim, EPSILON)
  const sizes = { dim, heads, hiddenScale, layers: config.transformerLayers }
  const layers = loadTransformer(cross, sizes)
  const narrow = resize('channel_downsampler', dim, channels)
  const narrowWaveform = resize('channel_downsampler_t', dim, channels)
  const frames = spectrumFrames(segmentSamples, window)
  const bins = window / 2 / STRIDE ** depth
  const length = widthAfter(depth, segmentSamples)
  const places = upload(positionsInSpectrogram(frames, bins, dim, config.maxPeriod), [
    frames * bins,
    dim,
  ])
  const placesInTime = upload(positionsInTime(length, dim, config.maxPeriod), [length, dim])

  /** Turns branches into normalised tokens with positions added. */
  const begin = ({ spectrogram, waveform }: Branches): Tokens => {
    const batch = spectrogram.shape[0]!
    const tokens = widen(spectrogram).reshape([batch, frames * bins, dim])
    const tokensInTime = widenWaveform(waveform).reshape([batch, length, dim])
    return {
      spectrogram: norm(tokens).add(places),
      waveform: normWaveform(tokensInTime).add(placesInTime),
    }
  }

  const end = ({ spectrogram, waveform }: Tokens): Branches => {
    const batch = spectrogram.shape[0]!
    return {
      spectrogram: narrow(spectrogram).reshape([batch, frames, bins, channels]),
      waveform: narrowWaveform(waveform).reshape([batch, 1, length, channels]),
    }
  }

  return {
    widen,
    widenWaveform,
    norm,
    normWaveform,
    layers,
    begin,
    end,
    cross: (branches: Branches): Branches =>
      end(layers.reduce((tokens, layer) => layer(tokens), begin(branches))),
  }
}

/** Returns how many samples the waveform branch has after `depth` encoders. */
const widthAfter = (depth: number, samples: number): number =>
  Array.from({ length: depth }).reduce<number>((length) => Math.ceil(length / STRIDE), samples)
