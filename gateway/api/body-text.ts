/**
 * Limits the values in a JSON body, and keeps its text next to its value, because parsing rounds
 * large numbers.
 */

import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import { hasMoreValuesThan } from './json-text.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body exactly as it was sent; empty if there is none. */
    bodyText: string
  }
}

/** The most values in a body. The largest metadata allowed has 8,192. */
export const BODY_VALUES_MAX = 10_000

/** @throws ServiceError `INVALID_REQUEST` for text that holds too many values */
export function assertFewValues(json: string): void {
  if (!hasMoreValuesThan(BODY_VALUES_MAX, json)) return
  throw new ServiceError('INVALID_REQUEST', {
    message: `The body holds more than ${BODY_VALUES_MAX} values.`,
  })
}

/**
 * Keeps the text of JSON bodies. An empty body counts as none, because many clients always state a
 * type.
 */
export function keepBodyText(app: FastifyInstance): void {
  app.decorateRequest('bodyText', '')
  const parse = app.getDefaultJsonParser('ignore', 'ignore') // any keys, as in app.ts
  app.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    (request, text, done) => {
      if (text === '') return done(null)
      try {
        assertFewValues(text)
      } catch (error) {
        return done(error as Error)
      }
      request.bodyText = text
      return parse(request, text, done)
    },
  )
}
