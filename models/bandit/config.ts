/** The sizes of Bandit v2, from the shapes of its weights and what its record states. */
import type { Band } from '../layers/band-join.ts'
import type { Weights } from '../checkpoint/weights.ts'
import { musicalBands } from './musical-bands.ts'

export interface BanditConfig {
  /** Hertz. */
  sampleRate: number
  /** Samples of a window, and from one to the next. */
  window: number
  hop: number
  /** Names of the outputs, in their order. */
  stems: readonly string[]
  bands: readonly Band[]
  dim: number
  /** Width of a recurrent layer, in each direction. */
  hiddenDim: number
  /** Pairs of recurrent layers: along time, then along bands. */
  depth: number
  /** Width within the masks' layers. */
  maskDim: number
}

export interface BanditStated {
  sampleRate: number
  window: number
  stems: readonly string[]
}

const HOPS_PER_WINDOW = 4

/** @throws Error naming the weight that is missing, or what no Bandit has */
export function readBanditConfig(weights: Weights, stated: BanditStated): BanditConfig {
  const { sampleRate, window, stems } = stated
  const isWindow = Number.isInteger(window / (2 * HOPS_PER_WINDOW)) && window > 0
  if (!isWindow) throw new Error(`Bandit needs a window of a multiple of 8, not ${window}`)
  if (stems.length === 0) throw new Error('Bandit needs the masks of a stem at least')
  const split = weights.at('band_split').at('norm_fc_modules')
  const count = countOf((i) => split.has(`${i}.combined.1.weight`))
  if (count < 2) throw new Error(`Bandit needs 2 bands at least, not ${count}`)
  const layers = weights.at('tf_model').at('seqband')
  const rnn = layers.at(0).at('rnn')
  const mask = weights.at('mask_estim').at(stems[0]!).at('norm_mlp').at(0).at('hidden').at(0)
  return {
    ...stated,
    hop: window / HOPS_PER_WINDOW,
    bands: musicalBands(sampleRate, window, count),
    dim: split.at(0).at('combined').at(1).shapeOf('weight')[0]!,
    hiddenDim: rnn.shapeOf('weight_hh_l0')[1]!,
    depth: countOf((i) => layers.has(`${4 * i}.norm.weight`)),
    maskDim: mask.shapeOf('weight')[0]!,
  }
}

/** How many there are from 0 on. */
function countOf(has: (i: number) => boolean): number {
  let count = 0
  while (has(count)) count += 1
  return count
}
