import assert from 'node:assert/strict'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { LightMyRequestResponse as Response } from 'fastify'
import { ERRORS, type ErrorCode } from '../../../shared/errors.ts'
import { ErrorResponse } from '../../../gateway/api/schemas.ts'

/** The value has the fields of its schema and no others, although the API may add some one day. */
export function assertShape(schema: TSchema, value: unknown): void {
  assert.deepEqual(Value.Errors(closed(schema) as TSchema, value), [])
}

/** The schema, with every object of named fields closed to others. */
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

/** The reply is this error, in the shape of clause 2.1, with the status of the table. */
export function assertError(reply: Response, code: ErrorCode, param?: string): void {
  assert.equal(reply.statusCode, ERRORS[code].status, reply.body)
  const body = reply.json<ErrorResponse>()
  assertShape(ErrorResponse, body)
  assert.equal(body.error.code, code, reply.body)
  assert.equal(body.error.param, param, reply.body)
}
