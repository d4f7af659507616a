/**
 * Two recurrent layers with a residual connection (torch.nn.LSTM in AudioSeal's StreamableLSTM).
 */
import type { Layer } from '../../../models/layers/layers.ts'
import { tf, type Tensor, type Tensor2D } from '../../../models/tensorflow/tensor.ts'
import type { Weights } from '../../../models/checkpoint/weights.ts'

const LAYERS = 2

/** Takes and returns [batch, frames, dim]. */
export function loadResidualLstm(weights: Weights, dim: number): Layer {
  const layers = Array.from({ length: LAYERS }, (_, i) => loadLstmLayer(weights.at('lstm'), i, dim))
  return (x) => tf.tidy(() => x.add(layers.reduce((y, layer) => layer(y), x)))
}

function loadLstmLayer(weights: Weights, index: number, dim: number): Layer {
  const kernel = (name: string) =>
    tf.tidy(() =>
      // [dim, 4 · dim]
      tf.transpose(weights.get(`weight_${name}_l${index}`, [4 * dim, dim])),
    ) as Tensor2D
  const input = kernel('ih')
  const recurrent = kernel('hh')
  const bias = tf.tidy(() =>
    weights.get(`bias_ih_l${index}`, [4 * dim]).add(weights.get(`bias_hh_l${index}`, [4 * dim])),
  )
  return (x) =>
    tf.tidy(() => {
      const [batch, frames] = x.shape as [number, number, number]
      // The input's part of the gates can be computed for all frames at once.
      const driven = tf
        .matMul(x.reshape([-1, dim]), input)
        .add(bias)
        .reshape([batch, frames, 4 * dim])
      let state = { cell: tf.zeros([batch, dim]), hidden: tf.zeros([batch, dim]) }
      const hidden = tf.unstack(driven, 1).map((gates) => {
        // gates [batch, 4 · dim]
        const before = state
        state = tf.tidy(() =>
          nextState(gates.add(tf.matMul(before.hidden, recurrent)), before.cell),
        )
        return state.hidden
      })
      return tf.stack(hidden, 1) // [batch, frames, dim]
    })
}

/** PyTorch's order of gates: input, forget, cell, output. */
function nextState(gates: Tensor, cell: Tensor): { cell: Tensor; hidden: Tensor } {
  const [take, keep, news, give] = tf.split(gates, 4, 1) as [Tensor, Tensor, Tensor, Tensor]
  const next = keep.sigmoid().mul(cell).add(take.sigmoid().mul(news.tanh()))
  return { cell: next, hidden: give.sigmoid().mul(next.tanh()) }
}
