import assert from 'node:assert/strict'
import test from 'node:test'
import { fc } from '../../../support/basics/property.ts'
import {
  compactJson,
  fieldText,
  isDeeperThan,
  hasMoreValuesThan,
} from '../../../../gateway/api/json-text.ts'

test('compacted JSON equals stringified JSON, except for its numbers', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom('', ' ', '\n\t'), (value, blanks) => {
      assert.equal(compactJson(JSON.stringify(value, null, blanks)), JSON.stringify(value))
    }),
  )
  const written = ' [ 12345678901234567890 , 1.10, "\\u0061 \\" b" ] '
  assert.equal(compactJson(written), '[12345678901234567890,1.10,"a \\" b"]')
})

test('the text of a field is that of the value that JSON.parse returns', () => {
  const names = fc.constantFrom('a', 'b', '"', '{', '__proto__')
  const pairs = fc.array(fc.tuple(names, fc.jsonValue()))
  fc.assert(
    fc.property(pairs, fc.constantFrom('', ' '), (pairs, blank) => {
      const fields = pairs.map(
        ([name, value]) => `${JSON.stringify(name)}${blank}:${JSON.stringify(value, null, blank)}`,
      )
      const json = `${blank}{${fields.join(`,${blank}`)}}`
      const last = pairs.findLast(([name]) => name === 'a')
      assert.equal(fieldText(json, 'a'), last && JSON.stringify(last[1]))
    }),
  )
  for (const json of ['1', '"a"', '[{"a":1}]', '{}', '{"b":{"a":1}}'])
    assert.equal(fieldText(json, 'a'), undefined)
})

test('depth counts nested arrays and objects', () => {
  const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
  assert.equal(isDeeperThan(0, 1), false)
  assert.equal(isDeeperThan(32, nested(32)), false)
  assert.equal(isDeeperThan(32, nested(33)), true)
  assert.equal(isDeeperThan(32, { a: 1, b: nested(100_000) }), true)
})

test('values are counted ignoring the content of strings, up to the requested maximum', () => {
  const texts: [string, number][] = [
    ['1', 1],
    ['[]', 2],
    ['[1,2,3]', 4],
    ['{"a,[{":"\\\\","b":"\\",,,"}', 3],
    ['{"a":1,"a":2}', 3],
    ['"not ended, \\', 1],
  ]
  for (const [text, values] of texts) {
    assert.equal(hasMoreValuesThan(values, text), false, text)
    assert.equal(hasMoreValuesThan(values - 1, text), true, text)
  }
})
