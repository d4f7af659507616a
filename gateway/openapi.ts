/** The API description (OpenAPI 3.1), made from the schemas of the routes. */

import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { ERRORS } from '../shared/errors.ts'
import { ErrorResponse } from './schemas.ts'
import { WEBHOOKS } from './webhook-schemas.ts'

/** Collects the routes that are added after it; `app.swagger()` then describes them. */
export async function installOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    convertConstToEnum: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Winnow',
        version: '1.0.0',
        description: 'Separates a sound, described in plain language, from audio or video.',
      },
      tags: [
        { name: 'models', description: 'What can be run' },
        { name: 'files', description: 'Media of your own' },
        { name: 'queue', description: 'Separations' },
        { name: 'account', description: 'Who you are here' },
        { name: 'admin', description: 'Accounts and keys, where the operator has an admin token' },
      ],
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer' },
          adminToken: { type: 'http', scheme: 'bearer', description: 'ADMIN_TOKEN of the gateway' },
        },
      },
      security: [{ apiKey: [] }],
    },
  })
}

/**
 * Responses of an operation: what it answers, and the errors that it may answer instead. What needs
 * a key may also answer 429, where the operator has set a limit.
 */
export const responses = (success: Record<number, object>, errors: readonly number[]) => ({
  ...success,
  ...Object.fromEntries(errors.map((status) => [status, errorResponse(status)])),
  ...(errors.includes(401) && { 429: tooManyResponse() }),
})

const tooManyResponse = () => ({
  ...errorResponse(429),
  headers: {
    'Retry-After': {
      type: 'integer', minimum: 0, description: 'Seconds after which another try may succeed.',
    },
  },
})

function errorResponse(status: number) {
  const codes = Object.entries(ERRORS)
    .filter(([, error]) => error.status === status)
    .map(([code]) => `\`${code}\``)
  return {
    description: codes.join(', '),
    content: { 'application/json': { schema: ErrorResponse } },
  }
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** The description with every titled schema once, under `components`, and references elsewhere. */
export function buildOpenApi(app: FastifyInstance): Json {
  const components: Record<string, Json> = {}
  const extract = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(extract)
    if (value === null || typeof value !== 'object') return value
    const entries = Object.entries(value).map(([name, part]) => [name, extract(part)] as const)
    const plain: { [name: string]: Json } = Object.fromEntries(entries)
    const { title, type } = plain
    if (typeof title !== 'string' || type !== 'object') return plain
    components[title] = plain
    return { $ref: `#/components/schemas/${title}` }
  }
  const { components: given, ...rest } = app.swagger() as unknown as { components: object }
  const described = JSON.parse(JSON.stringify({ ...rest, webhooks: WEBHOOKS })) as Json
  const document = extract(described) as { [name: string]: Json }
  const schemas = Object.fromEntries(Object.entries(components).sort())
  return { ...document, components: { ...given as { [name: string]: Json }, schemas } }
}
