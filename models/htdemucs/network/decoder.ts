/** One level of a decoder (HDecLayer). */
import { gelu, glu } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { HTDemucsConfig } from '../config.ts'
import type { Branch } from './branches.ts'
import { loadNeighbourhood, loadUpsampling } from './convolution.ts'
import { loadResidualLayers } from './residual-layers.ts'

export type Decoder = (x: Tensor, skip: Tensor, binsWanted: number) => Tensor

/**
 * Loads a level that maps x and the output of the encoder of the same level, [batch, frames, bins,
 * in], to [batch, frames, binsWanted, out].
 */
export function loadDecoder(
  weights: Weights,
  branch: Branch,
  sizes: { in: number; out: number; isLast: boolean },
  config: HTDemucsConfig,
): Decoder {
  const { in: inDim, out: outDim, isLast } = sizes
  const rewrite = loadNeighbourhood(weights.at('rewrite'), branch, inDim, 2 * inDim)
  const residual = loadResidualLayers(weights.at('dconv'), branch, inDim, config)
  const upsample = loadUpsampling(weights.at('conv_tr'), branch, inDim, outDim)
  return (x, skip, binsWanted) =>
    tf.tidy(() => {
      const y = residual(glu(rewrite(x.add(skip))))
      const z = upsample(y, binsWanted)
      return isLast ? z : gelu(z)
    })
}
