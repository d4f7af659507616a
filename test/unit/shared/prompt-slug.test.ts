import assert from 'node:assert/strict'
import test from 'node:test'
import { promptSlug, targetLabels } from '../../../shared/prompt-slug.ts'

test('a prompt is letters and digits of any script, with hyphens between', () => {
  assert.equal(promptSlug('  A dog, barking!'), 'a-dog-barking')
  assert.equal(promptSlug('Klavier & Geige / 2'), 'klavier-geige-2')
  assert.equal(promptSlug('犬の鳴き声'), '犬の鳴き声')
  assert.equal(promptSlug('../../etc'), 'etc')
  assert.equal(promptSlug('?!'), 'target')
  assert.equal([...promptSlug('𝒂'.repeat(500))].length, 60)
})

test('labels differ from each other and from that of the residual', () => {
  assert.deepEqual(targetLabels(['piano']), ['piano'])
  assert.deepEqual(targetLabels(['residual']), ['residual-1'])
  assert.deepEqual(targetLabels(['a dog', 'a, dog', 'cat']), ['a-dog', 'a-dog-2', 'cat'])
})
