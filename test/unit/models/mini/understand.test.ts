/** The logits of a prompt lead to names, or to none if no name is close. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { understand, type Name } from '../../../../models/mini/text/understand.ts'

const names: Name[] = [
  { key: 'dog', text: 'dog barking' },
  { key: 'woman', text: 'woman speaking' },
  ...Array.from({ length: 91 }, (_, i) => ({ key: `name-${i}`, text: `Name ${i}` })),
]
const logitsOf = (dog: number, woman: number) =>
  Float32Array.from(names, (_, i) => [dog, woman][i] ?? 0)

test('a name well above the others is close, and the probable ones are listed', () => {
  const near = understand(names, logitsOf(17, 16), 'a hound')
  assert.equal(near.understoodAs, 'dog barking')
  assert.deepEqual(
    near.meanings.map(({ name }) => name),
    ['dog barking', 'woman speaking'],
  )
  const [dog, woman] = near.meanings
  assert.ok(Math.abs(dog!.probability + woman!.probability - 1) < 1e-3)
  assert.equal(near.mayBeVoice, true)
})

test('none is close if the best is little above the mean, however probable it is', () => {
  const far = understand(names, logitsOf(13, 0), 'a hound')
  assert.equal(far.understoodAs, null)
  assert.ok(far.meanings[0]!.probability > 0.99)
  assert.equal(far.mayBeVoice, false)
  assert.equal(understand(names, logitsOf(0, 13), 'a lady').mayBeVoice, true)
})

test('a name is always recognized, and text in another script never is', () => {
  assert.equal(understand(names, logitsOf(0, 0), 'dog barking').understoodAs, 'dog barking')
  const foreign = understand(names, logitsOf(99, 0), '드럼')
  assert.deepEqual([foreign.understoodAs, foreign.mayBeVoice], [null, false])
})
