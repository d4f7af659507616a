/** The table of error codes matches docs/reference/errors.md. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { ERRORS, FAILURE_CODES, type ErrorCode } from '../../../shared/errors.ts'

const document = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8')

test('the document has every code with its status, and no others', () => {
  const documented = [...document.matchAll(/^\| (\d{3}) \| `([A-Z_]+)` \|/gm)].map(
    ([, status, code]) => [code, Number(status)],
  )
  const expected = Object.entries(ERRORS).map(([code, { status }]) => [code, status])
  assert.deepEqual(documented.sort(), expected.sort())
})

test('the failure codes of the document are those with which a request can end', () => {
  const sentence = /Failure codes, in[^]*?\n\n/.exec(document)?.[0] ?? ''
  const documented = [...sentence.matchAll(/`([A-Z_]+)`/g)]
    .map(([, code]) => code)
    .filter((code) => code !== 'FAILED')
  assert.deepEqual(documented.sort(), [...FAILURE_CODES].sort())
})

/**
 * Codes whose message alone can't say what would be right; `error.param` or the failure tells the
 * rest.
 */
const FINAL: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'INVALID_PARAMETER',
  'UNAUTHENTICATED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'REQUEST_FAILED',
  'REQUEST_FINISHED',
  'CANCELED',
]

test('the message of each code says what would be right', () => {
  for (const [code, { message }] of Object.entries(ERRORS)) {
    const isHelpful = /\bmust\b|^PUT\b|[;:] \w+/.test(message)
    assert.equal(isHelpful, !FINAL.includes(code as ErrorCode), `${code}: ${message}`)
  }
})
