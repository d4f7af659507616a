import assert from 'node:assert/strict'
import test from 'node:test'
import { handOverName, isHandOverName } from '../../../shared/hand-over.ts'

test("a file in the shared folder has a name, whichever of the host's engines made it", () => {
  assert.equal(handOverName('/data/scratch', '/data/scratch/job-1-aB9/target'), 'job-1-aB9/target')
  assert.equal(
    handOverName('/data/scratch', '/data/scratch/engine-2/job-1-a/peaks'),
    'engine-2/job-1-a/peaks',
  )
})

test('elsewhere, or without such a folder, it has none', () => {
  assert.equal(handOverName('/data/scratch', '/tmp/winnow/job-1-a/target'), undefined)
  assert.equal(handOverName('/data/scratch', '/data/scratch'), undefined)
  assert.equal(handOverName(undefined, '/data/scratch/job-1-a/target'), undefined)
})

test('no name leads out of the folder', () => {
  for (const name of [
    '../x',
    'a/../../x',
    '/etc/passwd',
    'a//b',
    '.',
    '',
    'a/',
    undefined,
    ['a'],
  ]) {
    assert.equal(isHandOverName(name), false, String(name))
  }
})
