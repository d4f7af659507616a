import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCharsmap } from '../../../../models/text/charsmap.ts'

/** Makes a double-array trie with one key, `a`, whose value is the offset of its replacement. */
function charsmapOf(value: number, replacements: string): string {
  const units = new Uint32Array(256)
  units[0] = 1 << 10 // the root's children start at 1
  const child = 1 ^ 0x61
  units[child] = 0x61 | (1 << 8) | (2 << 10) // a key ends here; its value is 2 further
  units[child ^ 2] = 0x80000000 + value
  const length = Buffer.alloc(4)
  length.writeUInt32LE(units.byteLength)
  return Buffer.concat([length, Buffer.from(units.buffer), Buffer.from(replacements)]).toString(
    'base64',
  )
}

test('text in the table is replaced, the rest stays', () => {
  const normalize = loadCharsmap(charsmapOf(2, 'x\0yz\0'))
  assert.equal(normalize(''), '')
  assert.equal(normalize('banana'), 'byznyznyz')
  assert.equal(normalize('b\0é日🎸'), 'b\0é日🎸')
})

test('a short grapheme is replaced as a whole by the replacement of its beginning', () => {
  const normalize = loadCharsmap(charsmapOf(0, 'y\0'))
  assert.equal(normalize('a\u0301b'), 'yb')
  assert.equal(normalize('a\u0301\u0301\u0301b'), 'y\u0301\u0301\u0301b')
})

test('a damaged table is refused', () => {
  for (const bytes of [[], [1, 0, 0], [8, 0, 0, 0, 1], [3, 0, 0, 0, 1, 1, 1]]) {
    assert.throws(() => loadCharsmap(Buffer.from(bytes).toString('base64')), /charsmap .* damaged/)
  }
})
