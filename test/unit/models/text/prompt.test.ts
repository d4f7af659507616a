import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelPrompt } from '../../../../models/text/prompt.ts'

test('prompts are normalized to lower case, composed, without final punctuation', () => {
  const cases: [string, string][] = [
    ['A dog barking.', 'a dog barking'],
    ['  Rain!?  ', 'rain'],
    ['Birds, then\u2026', 'birds, then'],
    ['rain . .', 'rain'],
    ['\u72ac\u306e\u58f0\u3002', '\u72ac\u306e\u58f0'],
    ['Sire\u0300ne', 'sir\u00e8ne'],
    ['guitar (acoustic)', 'guitar (acoustic)'],
    ['the U.S. anthem', 'the u.s. anthem'],
    ['!!!', ''],
  ]
  for (const [prompt, encoded] of cases) assert.equal(modelPrompt(prompt), encoded)
})
