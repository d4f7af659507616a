/**
 * A long short-term memory (S. Hochreiter, J. Schmidhuber, 1997) in both directions at once, in
 * PyTorch's form. On a CPU it is one custom operation. On a GPU a few steps at a time are a
 * graph, which many lanes share, and only the products of the inputs are held for it.
 */
import { compiled } from '../../graph/compiled.ts'
import type { Layer } from '../../layers/layers.ts'
import {
  gateWithSigmoid,
  gatherRows,
  hasLstm,
  lstm,
  LSTM_TILE,
  matmulTransposed,
  pad,
  tf,
  transpose,
  type Tensor,
} from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'

/**
 * How many steps one call computes: several, because on a GPU a call takes longer than one step.
 */
const STEPS_PER_CALL = 16

interface Gates {
  /** [2, 4 · hidden, dim] and [2, 4 · hidden, hidden]: input, forget, cell, output. */
  ofInput: Tensor
  ofState: Tensor
  /** [2, 1, 4 · hidden]. */
  bias: Tensor
}

/** State after a step, [2, rows, hidden] each. */
type State = Record<'output' | 'cell', Tensor>

/**
 * Takes some steps in both directions, each in its own order.
 * @param x [2, steps, rows, dim]
 * @param before the state before the first step
 * @returns outputs [2, steps, rows, hidden], and the state after the last step
 */
const advance = compiled((x: Tensor, before: State, { ofInput, ofState, bias }: Gates) =>
  tf.tidy(() => {
    const [, steps, rows, dim] = x.shape as [number, number, number, number]
    const flat = x.reshape([2, steps * rows, dim])
    const inputs = matmulTransposed(flat, ofInput).add(bias).reshape([2, steps, rows, -1])
    const outputs: Tensor[] = []
    let state = before
    for (let step = 0; step < steps; step += 1) {
      const input = tf.slice(inputs, [0, step, 0, 0], [-1, 1, -1, -1]).squeeze([1])
      state = next(input.add(matmulTransposed(state.output, ofState)), state.cell)
      outputs.push(state.output)
    }
    return {
      outputs: tf.stack(outputs, 1),
      state: { output: state.output.clone(), cell: state.cell },
    }
  }),
)

/** @param gates [2, rows, 4 · hidden], before the activations */
function next(gates: Tensor, cell: Tensor): State {
  return tf.tidy(() => {
    const [input, forget, fresh, output] = tf.split(gates, 4, -1) as [
      Tensor,
      Tensor,
      Tensor,
      Tensor,
    ]
    const kept = gateWithSigmoid(cell, forget).add(gateWithSigmoid(fresh.tanh(), input))
    return { output: gateWithSigmoid(kept.tanh(), output), cell: kept }
  })
}

/** Loads the layer: x [steps, rows, dim] to [steps, rows, 2 · hidden], forward, then backward. */
export const loadLstm = (weights: Weights, dim: number, hidden: number): Layer =>
  (hasLstm() ? loadLstmInOne : loadLstmInSteps)(weights, dim, hidden)

/** Like `loadLstm`, as a single operation. */
export function loadLstmInOne(weights: Weights, dim: number, hidden: number): Layer {
  const { matrices, bias } = tf.tidy(() => {
    const { ofInput, ofState, bias } = readGates(weights, dim, hidden)
    const tiled = (x: Tensor): Tensor => {
      const byGate = x.reshape([2, 4, hidden, -1])
      const missing = -hidden & (LSTM_TILE - 1)
      const tiles = pad(byGate, { 2: [0, missing] }).reshape([
        2,
        4,
        -1,
        LSTM_TILE,
        byGate.shape[3]!,
      ])
      return transpose(tiles, [0, 2, 4, 1, 3]) // [2, tiles, columns, 4, LSTM_TILE]
    }
    return { matrices: tiled(tf.concat([ofInput, ofState], 2)), bias: tiled(bias).squeeze([2]) }
  })
  return (x) => lstm(x, matrices, bias)
}

/** Like `loadLstm`, as graphs of a few steps. */
export function loadLstmInSteps(weights: Weights, dim: number, hidden: number): Layer {
  const gates = readGates(weights, dim, hidden)
  return (x) =>
    tf.tidy(() => {
      const [steps, rows] = x.shape as [number, number, number]
      let state: State = { output: tf.zeros([2, rows, hidden]), cell: tf.zeros([2, rows, hidden]) }
      const ahead: Tensor[] = []
      const back: Tensor[] = []
      for (let step = 0; step < steps; step += STEPS_PER_CALL) {
        const count = Math.min(STEPS_PER_CALL, steps - step)
        const output = tf.tidy(() => advance(bothWays(x, step, count), state, gates))
        tf.dispose(state)
        state = output.state
        const [forwards, backwards] = tf.tidy(() => tf.unstack(output.outputs)) as [Tensor, Tensor]
        output.outputs.dispose()
        ahead.push(forwards)
        back.unshift(reverseTime(backwards))
        backwards.dispose()
      }
      return tf.concat([tf.concat(ahead), tf.concat(back)], -1)
    })
}

/**
 * Returns `count` steps from `start` on, and as many backwards from the end: [2, count, rows, dim].
 */
const bothWays = (x: Tensor, start: number, count: number): Tensor =>
  tf.tidy(() => {
    const steps = x.shape[0]!
    const part = (first: number) => tf.slice(x, [first, 0, 0], [count, -1, -1])
    return tf.stack([part(start), reverseTime(part(steps - start - count))])
  })

/** Reverses the first axis. */
const reverseTime = (x: Tensor): Tensor =>
  tf.tidy(() => {
    const last = x.shape[0]! - 1
    const places = Array.from({ length: last + 1 }, (_, i) => last - i)
    return gatherRows(x, tf.tensor1d(places, 'int32'))
  })

function readGates(weights: Weights, dim: number, hidden: number): Gates {
  /** Reads a weight of both directions, [2, …shape]. */
  const read = (name: string, shape: readonly number[]) =>
    tf.stack(['', '_reverse'].map((direction) => weights.get(`${name}_l0${direction}`, shape)))
  return tf.tidy(() => ({
    ofInput: read('weight_ih', [4 * hidden, dim]),
    ofState: read('weight_hh', [4 * hidden, hidden]),
    bias: read('bias_ih', [4 * hidden])
      .add(read('bias_hh', [4 * hidden]))
      .expandDims(1),
  }))
}
