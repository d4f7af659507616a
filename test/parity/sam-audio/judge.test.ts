/** The judge against the reference: `golden/judge.safetensors`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  loadJudge,
  SCORES,
  type JudgeScores,
  type Verdict,
} from '../../../models/sam-audio/judge/judge.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { noise } from '../../support/models/lanes.ts'
import { fc } from '../../support/basics/property.ts'
import { reference, testStage } from './stages.ts'

testStage('judge')

const { judge } = await loadJudge(reference.folderOf('judge'))

const numbersOf = (scores: JudgeScores) => SCORES.map((name) => scores[name])

test('a separation is judged the same alone and in any batch', () => {
  const verdict = fc
    .record({
      samples: fc.integer({ min: 1, max: 3000 }),
      seed: fc.nat(),
      prompt: fc.constantFrom('a dog', '', 'rain on a tin roof while somebody speaks'),
    })
    .map(({ samples, seed, prompt }): Verdict => ({
      mixture: noise(samples, seed),
      separated: noise(samples, seed + 1),
      prompt,
    }))
  fc.assert(
    fc.property(fc.array(verdict, { minLength: 2, maxLength: 4 }), (verdicts) => {
      const before = tf.memory().numTensors
      const together = judge(verdicts)
      for (const [i, each] of verdicts.entries()) {
        assertClose(numbersOf(together[i]!), numbersOf(judge([each])[0]!), { absolute: 1e-5 })
      }
      assert.equal(tf.memory().numTensors, before)
    }),
    { numRuns: 8 },
  )
})

test("scores have names, in the reference's order", () => {
  const golden = reference.golden('judge.safetensors')
  const [mixture, separated] = ['input_audio.0', 'separated_audio.0'].map((name) =>
    Float32Array.from(golden.values(name)),
  )
  const prompt = 'a dog barking loudly in the distance'
  const [scores] = judge([{ mixture: mixture!, separated: separated!, prompt }])
  const { overall, recall, precision, faithfulness } = scores!
  assertClose([overall, recall, precision, faithfulness], golden.values('scores_item0_alone'), {
    absolute: golden.tolerance('scores_item0_alone'),
  })
})
