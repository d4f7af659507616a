import assert from 'node:assert/strict'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { LightMyRequestResponse as Response } from 'fastify'
import { ERRORS, type ErrorCode } from '../../../shared/errors.ts'
import { ErrorResponse } from '../../../gateway/api/schemas.ts'

/**
 * Asserts that a value has exactly the fields of its schema, although the API may add fields later.
 */
export function assertShape(schema: TSchema, value: unknown): void {
  assert.deepEqual(Value.Errors(closed(schema) as TSchema, value), [])
}

/** Returns the schema with additional fields forbidden in all objects. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (schema === null || typeof schema !== 'object') return schema
  const parts = Object.fromEntries(
    Object.entries(schema).map(([name, part]) => [name, closed(part)]),
  )
  const isOpen =
    'properties' in parts &&
    Object.keys(parts.properties as object).length > 0 &&
    !('additionalProperties' in parts)
  return isOpen ? { ...parts, additionalProperties: false } : parts
}

/**
 * Asserts that a reply is this error, in the form of clause 2.1 and with the status that the table
 * gives.
 */
export function assertError(reply: Response, code: ErrorCode, param?: string): void {
  assert.equal(reply.statusCode, ERRORS[code].status, reply.body)
  const body = reply.json<ErrorResponse>()
  assertShape(ErrorResponse, body)
  assert.equal(body.error.code, code, reply.body)
  assert.equal(body.error.param, param, reply.body)
}
