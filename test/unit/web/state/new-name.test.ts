import assert from 'node:assert/strict'
import test from 'node:test'
import { newNameOf } from '../../../../web/state/new-name.ts'

test('a renamed file keeps its extension, and has no folders', () => {
  const cases: Record<string, string> = {
    'Interview Dr. Meier': 'Interview Dr. Meier.m4a',
    'Take 1.5 final': 'Take 1.5 final.m4a',
    'Take 1.5': 'Take 1.5.m4a',
    ' second take.mp3 ': 'second take.mp3',
    'AC/DC\\live': 'AC_DC_live.m4a',
    '  ': '',
  }
  for (const [given, name] of Object.entries(cases)) {
    assert.equal(newNameOf('concert.m4a', given), name)
  }
  assert.equal(newNameOf('recording', 'Dr. Meier'), 'Dr. Meier')
})
