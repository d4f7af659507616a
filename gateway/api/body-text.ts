/** Keeps the text of a JSON body beside its value, since parsing rounds large numbers. */

import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came; empty where there is none. */
    bodyText: string
  }
}

export function keepBodyText(app: FastifyInstance): void {
  app.decorateRequest('bodyText', '')
  const parse = app.getDefaultJsonParser('ignore', 'ignore') // any keys, as in app.ts
  app.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    (request, text, done) => {
      request.bodyText = text
      return parse(request, text, done)
    },
  )
}
