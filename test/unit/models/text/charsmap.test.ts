/** The tokens of odd texts show what a table does: test/parity/sam-audio/parts.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCharsmap } from '../../../../models/text/charsmap.ts'

test('a damaged table is refused', () => {
  for (const bytes of [[], [1, 0, 0], [8, 0, 0, 0, 1], [3, 0, 0, 0, 1, 1, 1]]) {
    assert.throws(() => loadCharsmap(Buffer.from(bytes).toString('base64')), /charsmap .* damaged/)
  }
})
