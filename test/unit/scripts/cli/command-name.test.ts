import assert from 'node:assert/strict'
import test from 'node:test'
import { called, setUpAgain } from '../../../../scripts/cli/command-name.ts'

test('commands are named as the installation has them', () => {
  assert.equal(called('start'), 'npm start')
  assert.equal(called('doctor'), 'npm run doctor')
  assert.equal(called('keys', 'list'), 'npm run keys -- list')
  assert.equal(called('start', '', 'npx winnow'), 'npx winnow start')
  assert.equal(called('keys', 'list', 'winnow'), 'winnow keys list')
})

test('what sets an installation up again is a command that it has', () => {
  assert.equal(setUpAgain(), 'Run npm run setup.')
  assert.equal(setUpAgain('cuda'), 'Run WINNOW_COMPUTE=cuda npm run setup.')
  assert.match(setUpAgain(undefined, 'npx winnow'), /^Remove \/.* and run npx winnow doctor\.$/)
  assert.equal(setUpAgain('cpu', 'npx winnow'), 'Run WINNOW_COMPUTE=cpu npx winnow doctor.')
  for (const other of [undefined, 'cuda'] as const) {
    assert.match(setUpAgain(other, 'winnow'), /^Install the package again, or load the image/)
  }
})
