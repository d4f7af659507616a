import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import { seal, unseal } from '../../../gateway/secrets.ts'

const newKey = () => randomBytes(32).toString('base64url')

test('property: what is sealed opens as it was, each time sealed otherwise', () => {
  const key = newKey()
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => {
    const sealed = seal(key, 'req_1', text)
    assert.equal(unseal(key, 'req_1', sealed), text)
    assert.notEqual(seal(key, 'req_1', text), sealed)
  }))
})

test('it opens with no other key, for no other owner, and not when it was changed', () => {
  const key = newKey()
  const sealed = seal(key, 'req_1', 'a secret of some length')
  assert.throws(() => unseal(newKey(), 'req_1', sealed))
  assert.throws(() => unseal(key, 'req_2', sealed))
  const bytes = Buffer.from(sealed, 'base64url')
  for (let i = 0; i < bytes.length; i += 1) {
    const changed = Buffer.from(bytes)
    changed[i]! ^= 1
    assert.throws(() => unseal(key, 'req_1', changed.toString('base64url')), `byte ${i}`)
    assert.throws(() => unseal(key, 'req_1', bytes.subarray(0, i).toString('base64url')), `${i} bytes`)
  }
})
