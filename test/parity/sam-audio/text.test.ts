/** Tokens and T5 against the reference: `golden/tokenization.json`, `golden/t5.safetensors`. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { loadTextEncoder } from '../../../models/sam-audio/text/text-encoder.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { TextTokenizer } from '../../../models/text/tokenizer.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { fc } from '../../support/basics/property.ts'
import { reference, testStage } from './stages.ts'

const folder = reference.folderOf('text')
const { encode } = await loadTextEncoder(folder, 512)

testStage('tokens')
testStage('t5')

const oddTexts = fileURLToPath(new URL('../../fixtures/parity/odd-texts.json', import.meta.url))

test('odd texts give the same tokens as the tokenizers library', async () => {
  const { cases } = JSON.parse(readFileSync(oddTexts, 'utf8')) as {
    cases: { text: string; t5: number[]; bpe: number[] }[]
  }
  for (const [name, part] of [
    ['t5', 'text'],
    ['bpe', 'judge'],
  ] as const) {
    const tokenizer = await TextTokenizer.load(reference.folderOf(part), 512)
    for (const each of cases) {
      assert.deepEqual(tokenizer.tokens(each.text), each[name], JSON.stringify(each.text))
    }
  }
})

/** Returns the states of each text's tokens. */
function statesOf(texts: readonly string[]): Float32Array[] {
  const { states, valid } = encode(texts)
  const lengths = tf.tidy(() => valid.sum(1).arraySync() as number[])
  const rows = lengths.map((length, row) => {
    const rowStates = tf.slice(states, [row, 0, 0], [1, length, -1])
    const values = rowStates.dataSync<'float32'>()
    rowStates.dispose()
    return values
  })
  tf.dispose([states, valid])
  return rows
}

test('a prompt has the same states alone and in any batch, and nothing is left behind', () => {
  const word = fc.constantFrom('dog', 'barking', 'a', 'the rain', '…', 'Ünïcode', '日本', '</s>')
  const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '))
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (texts) => {
      const before = tf.memory().numTensors
      const together = statesOf(texts)
      for (const [i, each] of texts.entries()) {
        assertClose(together[i]!, statesOf([each])[0]!, { absolute: 1e-5 })
      }
      assert.equal(tf.memory().numTensors, before)
    }),
    { numRuns: 20 },
  )
})
