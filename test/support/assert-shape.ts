import assert from 'node:assert/strict'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { LightMyRequestResponse as Response } from 'fastify'
import { ERRORS, type ErrorCode } from '../../shared/errors.ts'
import { ErrorResponse } from '../../gateway/schemas.ts'

export function assertShape(schema: TSchema, value: unknown): void {
  assert.deepEqual(Value.Errors(schema, value), [])
}

/** The reply is this error, in the shape of spec.md 2.1, with the status of the table. */
export function assertError(reply: Response, code: ErrorCode, param?: string): void {
  assert.equal(reply.statusCode, ERRORS[code].status, reply.body)
  const body = reply.json<ErrorResponse>()
  assertShape(ErrorResponse, body)
  assert.equal(body.error.code, code, reply.body)
  assert.equal(body.error.param, param, reply.body)
}
