import assert from 'node:assert/strict'
import test from 'node:test'
import { outputLabels, promptSlug } from '../../../shared/prompt-slug.ts'

test('a prompt becomes a name of letters, digits and hyphens', () => {
  assert.equal(promptSlug('  A dog, barking!'), 'a-dog-barking')
  assert.equal(promptSlug('Klavier & Geige / 2'), 'klavier-geige-2')
  assert.equal(promptSlug('犬の鳴き声'), '犬の鳴き声')
  assert.equal(promptSlug('../../etc'), 'etc')
  assert.equal(promptSlug('?!'), 'target')
  assert.equal([...promptSlug('𝒂'.repeat(500))].length, 60)
})

test('the outputs of a request have names of their own', () => {
  assert.deepEqual(outputLabels(['piano']), { targets: ['piano'], residual: 'rest.without-piano' })
  assert.deepEqual(outputLabels(['a dog', 'a, dog', 'cat']), {
    targets: ['a-dog', 'a-dog-2', 'cat'],
    residual: 'rest.without-a-dog+a-dog-2+cat',
  })
})

test('what holds something else is named for that', () => {
  const { targets, residual } = outputLabels(
    ['kettle', 'piano'],
    ['everything but speech', undefined],
  )
  assert.deepEqual(targets, ['everything-but-speech-not-kettle', 'piano'])
  assert.equal(residual, 'rest.without-kettle+piano')
})

test('many long prompts make a name that a file system takes', () => {
  const prompts = Array.from({ length: 8 }, (_, i) => `${'long '.repeat(9)}${i}`)
  const { residual } = outputLabels(prompts)
  assert.match(residual, /^rest\.without-(long-)+0\+(long-)+1\+6-more$/)
  assert.ok(Buffer.byteLength(residual) <= 255)
})
