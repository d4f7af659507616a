import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { encrypt, decrypt } from '../../../gateway/secrets.ts'
import { fc } from '../../support/basics/property.ts'

const newKey = () => randomBytes(32).toString('base64url')

test('property: what is encrypted decrypts as it was, with another ciphertext each time', () => {
  const key = newKey()
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const sealed = encrypt([key], 'req_1', text)
      assert.equal(decrypt([key], 'req_1', sealed), text)
      assert.notEqual(encrypt([key], 'req_1', text), sealed)
    }),
  )
})

test("it can't be opened with another key, for another owner, or after a change", () => {
  const key = newKey()
  const sealed = encrypt([key], 'req_1', 'a secret of some length')
  assert.throws(() => decrypt([newKey()], 'req_1', sealed))
  assert.throws(() => decrypt([key], 'req_2', sealed))
  const bytes = Buffer.from(sealed, 'base64url')
  for (let i = 0; i < bytes.length; i += 1) {
    const tampered = Buffer.from(bytes)
    tampered[i]! ^= 1
    assert.throws(() => decrypt([key], 'req_1', tampered.toString('base64url')), `byte ${i}`)
    assert.throws(
      () => decrypt([key], 'req_1', bytes.subarray(0, i).toString('base64url')),
      `${i} bytes`,
    )
  }
})

test('it opens with either of two keys, and is sealed with the first', () => {
  const [old, next] = [newKey(), newKey()]
  const sealed = encrypt([old], 'req_1', 'a secret')
  assert.equal(decrypt([next, old], 'req_1', sealed), 'a secret')
  const fresh = encrypt([next, old], 'req_1', 'a secret')
  assert.equal(decrypt([next], 'req_1', fresh), 'a secret')
  assert.throws(() => decrypt([old], 'req_1', fresh))
})
