/**
 * Whole separations against the reference: `golden/separate.safetensors`, and with each wave alone
 * `separate_alone.safetensors`. In the reference's batch, padding changes what the shorter wave gives,
 * so of that batch the longest wave counts; of those that were alone, all do.
 */
import { test } from 'node:test'
import { decodeLatents, encodeWaves } from '../../../models/sam-audio/codec/codec.ts'
import { readConfig } from '../../../models/sam-audio/config.ts'
import { stepFlows, type Flow } from '../../../models/sam-audio/flow.ts'
import { loadNetwork } from '../../../models/sam-audio/network.ts'
import { planStrides } from '../../../models/sam-audio/ode.ts'
import { tf, type Tensor } from '../../../models/tensor.ts'
import { Weights } from '../../../models/weights.ts'
import { assertClose } from '../../support/assert-close.ts'
import { CHECKPOINT, CONFIG, openGolden, type Golden } from './golden.ts'

const batched = openGolden('separate.safetensors')
const alone = openGolden('separate_alone.safetensors')
const text = openGolden('dit_forward.safetensors')
const config = await readConfig(CONFIG)
const network = loadNetwork(Weights.open(CHECKPOINT), config)
const { conditions, transformer } = network.velocity

/** The anchors of a case as the reference's processor gives them, by row and real frame. */
function anchorTokens(spans: string, row: number, frames: number): Tensor {
  const [, width] = batched.shape(`${spans}.anchor_ids`) as [number, number]
  const [, longest] = batched.shape(`${spans}.anchor_alignment`) as [number, number]
  const ids = batched.values(`${spans}.anchor_ids`)
  const places = batched.values(`${spans}.anchor_alignment`)
  const tokens = Int32Array.from({ length: frames }, (_, i) => ids[row * width + places[row * longest + i]!]!)
  return tf.tensor2d(tokens, [1, frames], 'int32')
}

/** What the text encoder made of the two prompts: [1, words, textDim]. */
function textFeatures(row: number): Tensor {
  const [, longest] = text.shape('text_mask') as [number, number]
  const words = text.values('text_mask').subarray(row * longest, (row + 1) * longest).indexOf(0)
  return tf.slice(text.tensor('text_features'), [row, 0, 0], [1, words < 0 ? longest : words, -1])
}

function flowOf(row: number, spans: string): Flow {
  return tf.tidy(() => {
    const { features } = encodeWaves(
      network.codec.encoder, config.codec, [Float32Array.from(alone.values(`audio.${row}`))])
    const frames = features.shape[1]!
    return {
      base: conditions.audio(features).add(conditions.video.absent)
        .add(conditions.anchors(anchorTokens(spans, row, frames))),
      memory: conditions.memory(textFeatures(row)),
      state: alone.tensor(`noise.${row}`),
    }
  })
}

/** Both flows in one batch, from noise to the latents of both streams. */
function flowToEnd(spans: string, steps: number): Tensor[] {
  let flows = [flowOf(0, spans), flowOf(1, spans)]
  for (const stride of planStrides(steps)) {
    const states = stepFlows(network.velocity, transformer.tellTime, flows, flows.map(() => stride))
    flows = flows.map((flow, i) => ({ ...flow, state: states[i]! }))
  }
  return flows.map(({ state }) => state)
}

function assertDecoded(latent: Tensor, row: number, name: string, golden: Golden): void {
  const clean = tf.tidy(() => decodeLatents(network.codec.decoder, config.codec, streamsOf(latent)))
  const message = alone.tensor(`message.${row}`)
  const marked = tf.tidy(() => network.watermark.forward(clean.expandDims(2), message).squeeze([2]))
  for (const [waves, suffix] of [[marked, ''], [clean, '_no_watermark']] as const) {
    if (suffix && !golden.has(`${name}.target${suffix}.${row}`)) continue // not stored of every case
    const [target, residual] = tf.unstack(waves) as [Tensor, Tensor]
    golden.assertEqual(target, `${name}.target${suffix}.${row}`)
    golden.assertEqual(residual, `${name}.residual${suffix}.${row}`)
  }
}

/** Target and residual, side by side in the channels, as rows: [2, frames, codebookDim]. */
const streamsOf = (latent: Tensor): Tensor => tf.concat(tf.split(latent, 2, 2))

for (const spans of ['anchors', 'plain', 'spans']) {
  for (const steps of [4, 16, 32]) {
    const name = `${spans}.s${2 * steps}`
    if (!batched.has(`${name}.target.0`)) continue
    test(`${spans}, ${steps} steps: the longest wave of the reference's batch`, () => {
      const [latent] = flowToEnd(spans, steps)
      if (batched.has(`${name}.latent`)) {
        const expected = tf.tidy(() => tf.slice(batched.turned(`${name}.latent`), [0, 0, 0], [1, -1, -1]))
        assertClose(latent!.dataSync<'float32'>(), expected.dataSync<'float32'>(),
          { absolute: batched.tolerance(`${name}.latent`) })
      }
      assertDecoded(latent!, 0, name, batched)
    })
  }
}

for (const spans of ['anchors', 'plain']) {
  test(`${spans}, 16 steps: in one batch, each wave as the reference separates it alone`, () => {
    const latents = flowToEnd(spans, 16)
    for (const [row, latent] of latents.entries()) assertDecoded(latent, row, `${spans}.s32`, alone)
  })
}
