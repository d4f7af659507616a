/** Residual layers of dilated convolutions over time (DConv). */
import { gelu, glu, loadPointwise, type Layer } from '../../layers/layers.ts'
import { tf } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { HTDemucsConfig } from '../config.ts'
import type { Branch } from './branches.ts'
import { loadDilated } from './convolution.ts'
import { loadGroupNorm } from '../../layers/norms.ts'

/**
 * Loads layers that keep the shape [batch, frames, bins, channels]. The spectrogram branch takes
 * statistics of each bin over all frames.
 */
export function loadResidualLayers(
  weights: Weights,
  branch: Branch,
  channels: number,
  { residualCompression, residualDepth }: HTDemucsConfig,
): Layer {
  const hidden = Math.floor(channels / residualCompression)
  const timeAndChannels = branch === 'spectrogram' ? [1, 3] : [2, 3]
  const layers = Array.from({ length: residualDepth }, (_, depth): Layer => {
    const steps = weights.at('layers').at(depth)
    const narrow = loadDilated(steps.at(0), branch, channels, hidden, 2 ** depth)
    const narrowNorm = loadGroupNorm(steps.at(1), hidden, timeAndChannels)
    const widen = loadPointwise(steps.at(3), hidden, 2 * channels, 1)
    const wideNorm = loadGroupNorm(steps.at(4), 2 * channels, timeAndChannels)
    const scale = steps.at(6).get('scale', [channels])
    return (x) => tf.tidy(() => x.add(glu(wideNorm(widen(gelu(narrowNorm(narrow(x)))))).mul(scale)))
  })
  return (x) => tf.tidy(() => layers.reduce((y, layer) => layer(y), x.clone()))
}
