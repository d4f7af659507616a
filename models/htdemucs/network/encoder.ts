/** One level of an encoder (HEncLayer). */
import { gelu, glu, loadPointwise, type Layer } from '../../layers/layers.ts'
import { tf } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { HTDemucsConfig } from '../config.ts'
import type { Branch } from './branches.ts'
import { loadDownsampling } from './convolution.ts'
import { loadResidualLayers } from './residual-layers.ts'

export interface Encoder {
  /** Output of the residual layers, [batch, frames, bins / 4, out], for tests. */
  residual: Layer
  /** Maps [batch, frames, bins, in] to [batch, frames, bins / 4, out], bins rounded up. */
  forward: Layer
}

export function loadEncoder(
  weights: Weights,
  branch: Branch,
  inDim: number,
  outDim: number,
  config: HTDemucsConfig,
): Encoder {
  const downsample = loadDownsampling(weights.at('conv'), branch, inDim, outDim)
  const layers = loadResidualLayers(weights.at('dconv'), branch, outDim, config)
  const kernelAxes = branch === 'spectrogram' ? 2 : 1
  const rewrite = loadPointwise(weights.at('rewrite'), outDim, 2 * outDim, kernelAxes)
  const toResidual: Layer = (x) => tf.tidy(() => layers(gelu(downsample(x))))
  return { residual: toResidual, forward: (x) => tf.tidy(() => glu(rewrite(toResidual(x)))) }
}
