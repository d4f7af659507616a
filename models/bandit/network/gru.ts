/**
 * A gated recurrent unit (K. Cho and others, 2014) in both directions, in the form of PyTorch and
 * cuDNN, whose reset gate multiplies the product of the state: TensorFlow's own operation has
 * another.
 */
import { compiled } from '../../graph/compiled.ts'
import type { Layer } from '../../layers/layers.ts'
import { readDirections, reverseTime, STEPS_PER_CALL } from '../../layers/recurrent.ts'
import { matmulTransposed, pad, tf, transpose, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'

interface Gates {
  /** [2, 3 · hidden, dim] and [2, 3 · hidden, hidden]: reset, update, new. */
  ofInput: Tensor
  ofState: Tensor
  /** [2, 1, 3 · hidden], with what the reset gate does not multiply. */
  bias: Tensor
  /** [2, 1, hidden], of the new state within the reset gate's product. */
  stateBias: Tensor
}

/**
 * Some steps of both directions, each in its own order.
 * @param x [2, steps, rows, dim]
 * @param state [2, rows, hidden], before the first step
 * @returns outputs [2, steps, rows, hidden], and the state after the last step
 */
const advance = compiled((x: Tensor, state: Tensor, { ofInput, ofState, bias, stateBias }: Gates) =>
  tf.tidy(() => {
    const [, steps, rows, dim] = x.shape as [number, number, number, number]
    const hidden = state.shape[2]!
    const flat = x.reshape([2, steps * rows, dim])
    const inputs = matmulTransposed(flat, ofInput).add(bias).reshape([2, steps, rows, -1])
    const states: Tensor[] = []
    let before = state
    for (let step = 0; step < steps; step += 1) {
      const next = tf.tidy(() => {
        const input = tf.slice(inputs, [0, step, 0, 0], [-1, 1, -1, -1]).squeeze([1])
        const product = matmulTransposed(before, ofState) // [2, rows, 3 · hidden]
        const part = (of: Tensor, first: number, count = 1) =>
          tf.slice(of, [0, 0, first * hidden], [-1, -1, count * hidden])
        const gates = part(input, 0, 2)
          .add(part(product, 0, 2))
          .sigmoid()
        const [reset, update] = [part(gates, 0), part(gates, 1)]
        const inner = part(product, 2).add(stateBias).mul(reset)
        const fresh = part(input, 2).add(inner).tanh()
        return fresh.add(update.mul(before.sub(fresh)))
      })
      states.push(next)
      before = next
    }
    return { outputs: tf.stack(states, 1), state: before.clone() }
  }),
)

/** x [rows, steps, dim] to [rows, steps, 2 · hidden]: forward, then backward. */
export function loadGru(weights: Weights, dim: number, hidden: number): Layer {
  const gates = readGates(weights, dim, hidden)
  return (x) =>
    tf.tidy(() => {
      const [rows, steps] = x.shape as [number, number, number]
      const forward = transpose(x, [1, 0, 2]) // [steps, rows, dim]
      const both = tf.stack([forward, reverseTime(forward)])
      let state: Tensor = tf.zeros([2, rows, hidden])
      const outputs: Tensor[] = []
      for (let step = 0; step < steps; step += STEPS_PER_CALL) {
        const count = Math.min(STEPS_PER_CALL, steps - step)
        const part = tf.slice(both, [0, step, 0, 0], [-1, count, -1, -1])
        const answer = advance(part, state, gates)
        tf.dispose([part, state])
        state = answer.state
        outputs.push(answer.outputs)
      }
      const [ahead, back] = tf.split(tf.concat(outputs, 1), 2) as [Tensor, Tensor]
      const inTime = [ahead.squeeze([0]), reverseTime(back.squeeze([0]))]
      return transpose(tf.concat(inTime, -1), [1, 0, 2])
    })
}

function readGates(weights: Weights, dim: number, hidden: number): Gates {
  const read = (name: string, shape: readonly number[]) => readDirections(weights, name, shape)
  return tf.tidy(() => {
    const ofInput = read('weight_ih', [3 * hidden, dim])
    const ofState = read('weight_hh', [3 * hidden, hidden])
    const inputBias = read('bias_ih', [3 * hidden]).expandDims(1)
    const stateBias = read('bias_hh', [3 * hidden]).expandDims(1)
    const gatesOnly = pad(tf.slice(stateBias, [0, 0, 0], [-1, -1, 2 * hidden]), [
      [0, 0],
      [0, 0],
      [0, hidden],
    ])
    return {
      ofInput,
      ofState,
      bias: inputBias.add(gatesOnly),
      stateBias: tf.slice(stateBias, [0, 0, 2 * hidden], [-1, -1, -1]),
    }
  })
}
