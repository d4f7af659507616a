import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import { encrypt, decrypt } from '../../../gateway/secrets.ts'

const newKey = () => randomBytes(32).toString('base64url')

test('property: what is encrypted decrypts as it was, with another ciphertext each time', () => {
  const key = newKey()
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const encrypted = encrypt(key, 'req_1', text)
      assert.equal(decrypt(key, 'req_1', encrypted), text)
      assert.notEqual(encrypt(key, 'req_1', text), encrypted)
    }),
  )
})

test('it opens with no other key, for no other owner, and not when it was changed', () => {
  const key = newKey()
  const encrypted = encrypt(key, 'req_1', 'a secret of some length')
  assert.throws(() => decrypt(newKey(), 'req_1', encrypted))
  assert.throws(() => decrypt(key, 'req_2', encrypted))
  const bytes = Buffer.from(encrypted, 'base64url')
  for (let i = 0; i < bytes.length; i += 1) {
    const changed = Buffer.from(bytes)
    changed[i]! ^= 1
    assert.throws(() => decrypt(key, 'req_1', changed.toString('base64url')), `byte ${i}`)
    assert.throws(
      () => decrypt(key, 'req_1', bytes.subarray(0, i).toString('base64url')),
      `${i} bytes`,
    )
  }
})
