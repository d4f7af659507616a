/** Every text and every list that a client can send has a maximum size. */

import assert from 'node:assert/strict'
import test from 'node:test'
import {
  CreateAccountRequest,
  CreateKeyRequest,
  CreditRequest,
} from '../../../../gateway/accounts/schemas.ts'
import { CreateFileRequest } from '../../../../gateway/api/file-schemas.ts'
import { SubmitAudioSeparateRequest } from '../../../../gateway/api/schemas.ts'

const BODIES = {
  CreateFileRequest,
  SubmitAudioSeparateRequest,
  CreateAccountRequest,
  CreditRequest,
  CreateKeyRequest,
}

/** Yields every schema below `schema` with its path. */
function* schemasBelow(schema: any, path: string): Generator<[path: string, schema: any]> {
  yield [path, schema]
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    yield* schemasBelow(child, `${path}.${name}`)
  }
  if (schema.items) yield* schemasBelow(schema.items, `${path}[]`)
}

const all = Object.entries(BODIES).flatMap(([name, schema]) => [...schemasBelow(schema, name)])
const ofType = (type: string) => all.filter(([, schema]) => schema.type === type)

test('every text of a body has a maximum length, and a form that excludes U+0000', () => {
  const texts = ofType('string').filter(
    ([, { enum: words, const: word }]) => !words && word === undefined,
  )
  assert.ok(texts.length >= 10, `${texts.length} texts`)
  for (const [path, { maxLength, pattern, format }] of texts) {
    assert.ok(maxLength <= 8_192, `${path}: maxLength ${maxLength}`)
    assert.ok(
      format === 'uri' || !RegExp(pattern, 'u').test('audio/a;\0'),
      `${path}: pattern ${pattern}`,
    )
  }
})

test('every list of a body has a maximum length', () => {
  const lists = ofType('array')
  assert.ok(lists.length >= 2, `${lists.length} lists`)
  for (const [path, { maxItems }] of lists)
    assert.ok(maxItems <= 64, `${path}: maxItems ${maxItems}`)
})

test('only metadata may have arbitrary depth and names', () => {
  const free = ofType('object').filter(([, schema]) => Object.keys(schema.properties).length === 0)
  assert.deepEqual(
    free.map(([path]) => path),
    ['SubmitAudioSeparateRequest.metadata'],
  )
})
