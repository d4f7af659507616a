import assert from 'node:assert/strict'
import test from 'node:test'
import { outputLabels, outputName, promptSlug } from '../../../shared/prompt-slug.ts'

test('a prompt becomes a name of letters, digits and hyphens', () => {
  assert.equal(promptSlug('  A dog, barking!'), 'a-dog-barking')
  assert.equal(promptSlug('Klavier & Geige / 2'), 'klavier-geige-2')
  assert.equal(promptSlug('犬の鳴き声'), '犬の鳴き声')
  assert.equal(promptSlug('../../etc'), 'etc')
  assert.equal(promptSlug('?!'), 'target')
  assert.equal(promptSlug('a'.repeat(500)).length, 60)
  assert.equal(promptSlug('𝒂'.repeat(500)), '𝒂'.repeat(30))
})

test('the outputs of a request have distinct names', () => {
  assert.deepEqual(outputLabels(['piano']), { targets: ['piano'], residual: 'rest.without-piano' })
  assert.deepEqual(outputLabels(['a dog', 'a, dog', 'cat']), {
    targets: ['a-dog', 'a-dog-2', 'cat'],
    residual: 'rest.without-a-dog+a-dog-2+cat',
  })
})

test('an output that holds something else is named after that', () => {
  const { targets, residual } = outputLabels(
    ['kettle', 'piano'],
    ['everything but speech', undefined],
  )
  assert.deepEqual(targets, ['everything-but-speech-not-kettle', 'piano'])
  assert.equal(residual, 'rest.without-kettle+piano')
})

test('many long prompts make a name that a file system accepts', () => {
  const prompts = Array.from({ length: 8 }, (_, i) => `${'long '.repeat(9)}${i}`)
  const { residual } = outputLabels(prompts)
  assert.match(residual, /^rest\.without-(long-)+0\+(long-)+1\+6-more$/)
  assert.ok(Buffer.byteLength(residual) <= 255)
})

test('a name too long for any file system is cut in its stem, between characters', () => {
  const family = '👨‍👩‍👧' // one character of five code points
  const stems = ['x'.repeat(300), '夜'.repeat(85), 'é'.repeat(200), family.repeat(40)]
  const prompts = ['drums', '犬の鳴き声'.repeat(20), 'я'.repeat(60), '𝒂'.repeat(60)]
  for (const stem of stems) {
    for (const prompt of prompts) {
      const { targets, residual } = outputLabels([prompt, `${prompt}!`], ['everything but speech'])
      const names = [...targets, residual].map((label) => outputName(stem, label, 'flac'))
      assert.equal(new Set(names).size, 3)
      for (const name of names) {
        assert.ok(Buffer.byteLength(name) <= 255, name)
        assert.ok(Buffer.byteLength(name) > 255 - Buffer.byteLength(family), name)
        const [base = ''] = name.split('.')
        assert.equal(base.replaceAll(stem.startsWith(family) ? family : stem[0]!, ''), '')
        assert.ok(base.length > 0)
      }
      for (const [i, target] of targets.entries()) assert.ok(names[i]!.endsWith(`.${target}.flac`))
    }
  }
  const episode = `The show, ${'and so on '.repeat(30)}part 12`
  assert.match(outputName(episode, 'drums', 'wav'), /^The show, .* part 12\.drums\.wav$/)
})

test('a target is named after what it holds, in the words of the prompt', () => {
  const labelled = (prompt: string) => {
    const { targets, residual } = outputLabels([prompt])
    return [targets[0], residual]
  }
  assert.deepEqual(labelled('No drums!'), ['without-drums', 'rest.drums'])
  assert.deepEqual(labelled('speech & piano'), ['speech+piano', 'rest.without-speech+piano'])
  assert.deepEqual(labelled('speech without the woman')[0], 'speech-without-woman')
  assert.deepEqual(labelled('can you please extract the piano?')[0], 'piano')
  assert.deepEqual(labelled('ohne das Klavier')[0], 'without-klavier')
  assert.deepEqual(labelled('karaoke'), ['without-vocals', 'rest.vocals'])
  assert.deepEqual(labelled('denoise')[0], 'speech')
  assert.deepEqual(labelled('a person speaking')[0], 'a-person-speaking')
  const earlier = outputLabels(['no drums'], [], [false])
  assert.deepEqual(earlier.targets, ['no-drums'], 'of an engine that did not read it')
  const { residual } = outputLabels(['no drums', 'piano'])
  assert.equal(residual, 'rest.without-without-drums+piano')
})
