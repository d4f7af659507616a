/** The API description (OpenAPI 3.1), made from the schemas of the routes. */

import swagger, { type SwaggerTransform } from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { ERRORS, FAILURE_CODES, type ErrorCode } from '../../shared/errors.ts'
import { NOTES } from './openapi-examples.ts'
import { describeNulls } from './nulls.ts'
import { ErrorResponse } from './schemas.ts'
import { WEBHOOKS } from './webhook-schemas.ts'

const DESCRIPTION = `Separates a sound, described in plain language, from audio or video.

1. Upload a file (\`POST /v1/files\`, then \`PUT\` its bytes), or name a public HTTPS address.
2. Submit it with a prompt: \`POST /v1/queue/audio/separate\`.
3. Follow the status, by polling or as a stream of events, until it is terminal.
4. Get the result: the addresses of \`target\`, the sound, and \`residual\`, the rest.

Times of media are in seconds. Every answer has the header \`X-Request-Id\`: the caller's own, if it
sent one, else a new one.`

/** Collects the routes that are added after it; `app.swagger()` then describes them. */
export async function installOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    convertConstToEnum: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Winnow',
        version: '1.0.0',
        description: DESCRIPTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: [
        { name: 'models', description: 'The models' },
        { name: 'files', description: 'Your own media' },
        { name: 'queue', description: 'Separations' },
        { name: 'description', description: 'This document' },
        { name: 'account', description: 'Your account' },
        { name: 'admin', description: 'Extension: accounts and keys, with an admin token' },
      ],
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'sep_<key id>_<secret>',
            description:
              'An API key. Each operation names the scope that its key needs: `models:read`, ' +
              '`files:write`, `files:read`, `audio:separate`.',
          },
          shareSecret: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'shr_<secret>',
            description: 'The secret of a share',
          },
          adminToken: {
            type: 'http',
            scheme: 'bearer',
            description: 'ADMIN_TOKEN of the gateway, or the session of an admin',
          },
        },
      },
      security: [{ apiKey: [] }],
    },
    transform: describeRoute,
  })
}

/** Completes the schema of a route with what its scope and its path imply. */
const describeRoute: SwaggerTransform = ({ schema: own, url, route: { config, method } }) => {
  const schema = own?.body ? { ...own, body: describeNulls(own.body as object) } : own
  const scope = config?.scope
  if (!scope && !schema?.tags?.includes('admin')) return { schema, url }
  const response = {
    ...responses({}, commonErrors(scope, method)),
    ...(schema?.response as object),
    ...retryResponses(isHolding(schema) ? [QUOTA] : []),
  }
  const limited = { ...schema, response, ...(scope && pathParameters(url)) }
  if (!scope) return { url, schema: limited }
  if (scope === 'any') return { url, schema: { ...limited, security: [{ apiKey: [] }] } }
  const description = `${schema?.description ?? ''}\n\nScope of the key: \`${scope}\`.`.trim()
  return { url, schema: { ...limited, description, security: [{ apiKey: [scope] }] } }
}

const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  endpoint_id: 'As returned when the endpoint was created.',
  file_id: 'As returned when the file was created.',
  key_id: 'The middle part of the key.',
  request_id: 'As returned by the submit.',
  share_id: 'As returned when the share was created.',
}

/** Returns a schema for the parameter in a path, if there is one. */
function pathParameters(url: string): { params?: object } {
  const [, name = ''] = /:(\w+)/.exec(url) ?? []
  const description = PATH_PARAMETERS[name]
  if (description === undefined) return {}
  return { params: { type: 'object', properties: { [name]: { type: 'string', description } } } }
}

/**
 * Returns the errors that every call with this scope may get; without a scope, those of every admin
 * call.
 */
function commonErrors(scope: string | undefined, method: string | string[]): Errors {
  if (scope === 'any') return [401, 'ACCOUNT_DISABLED', 500]
  if (scope) return [401, 403, 500]
  return method === 'GET' ? [401, 500] : [401, 'PERMISSION_DENIED', 500]
}

type Errors = readonly (number | ErrorCode)[]

/**
 * Returns the responses of an operation, for its successes and its errors. An error is a code, or a
 * status for all codes that have it.
 */
export function responses(
  success: Record<number, object>,
  errors: Errors = [],
): Record<number, object> {
  const codes = errors.flatMap((error) => (typeof error === 'string' ? [error] : codesOf(error)))
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))]
  return {
    ...success,
    ...Object.fromEntries(
      statuses.map((status) => [
        status,
        errorResponse(codes.filter((code) => ERRORS[code].status === status)),
      ]),
    ),
  }
}

const QUOTA: ErrorCode = 'MEDIA_QUOTA_EXCEEDED'
/** Returns whether the operation names a 429 of its own. */
const isHolding = (schema?: { response?: unknown }) => 429 in Object(schema?.response)

/**
 * Responses to every call with a key or the secret of a share: 429 if there is a limit, and 503.
 */
export const retryResponses = (quota: readonly ErrorCode[] = []) => ({
  429: retryResponse(['RATE_LIMITED', ...quota]),
  503: retryResponse(codesOf(503)),
})

const retryResponse = (codes: readonly ErrorCode[]) => ({
  ...errorResponse(codes),
  headers: {
    'Retry-After': {
      type: 'integer',
      minimum: 0,
      description: 'How many seconds to wait before a retry.',
    },
  },
})

/** Codes that a request can end with, but that no HTTP response has. */
const OF_REQUESTS_ONLY: readonly ErrorCode[] = FAILURE_CODES.filter((code) =>
  [
    'MODEL_FAILED',
    'CHUNK_TOO_LARGE',
    'INVALID_MEDIA',
    'NO_AUDIO_STREAM',
    'ENGINE_LOST',
    'CANCELED',
  ].includes(code),
)

const codesOf = (status: number): ErrorCode[] =>
  (Object.keys(ERRORS) as ErrorCode[]).filter(
    (code) => ERRORS[code].status === status && !OF_REQUESTS_ONLY.includes(code),
  )

function errorResponse(codes: readonly ErrorCode[]) {
  const examples = codes.map((code) => [
    code,
    { value: { error: { code, message: ERRORS[code].message } } },
  ])
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join('\n\n'),
    content: {
      'application/json': { schema: ErrorResponse, examples: Object.fromEntries(examples) },
    },
  }
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/**
 * Returns the API description. Every titled schema stands once, under `components`, with references
 * elsewhere.
 */
export function buildOpenApi(app: FastifyInstance): { [name: string]: Json } {
  const components: Record<string, Json> = {}
  const extract = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(extract)
    if (value === null || typeof value !== 'object') return value
    const entries = Object.entries(value).map(([name, part]) => [name, extract(part)] as const)
    const plain: { [name: string]: Json } = Object.fromEntries(entries)
    const { title, type } = plain
    if (typeof title !== 'string' || type !== 'object') return plain
    components[title] = { ...plain, ...noteOf(title) }
    return { $ref: `#/components/schemas/${title}` }
  }
  const { components: declared, ...rest } = app.swagger() as unknown as { components: object }
  const described = JSON.parse(JSON.stringify({ ...rest, webhooks: WEBHOOKS })) as Json
  const document = extract(described) as { paths: Paths }
  completeResponses(document.paths)
  for (const { requestBody } of operationsOf(document.paths)) {
    // @fastify/swagger treats every body as required
    if (requestBody) requestBody.required = !mayBeAbsent(requestBody, components)
  }
  const schemas = Object.fromEntries(Object.entries(components).sort())
  const all = { ...(declared as { [name: string]: Json }), schemas, headers: HEADERS }
  return { ...document, components: all }
}

function noteOf(title: string): { [name: string]: Json } {
  const { description, example, rules } = NOTES[title] ?? {}
  return {
    ...(description !== undefined && { description }),
    ...(example && { examples: [example as Json] }),
    ...(rules as { [name: string]: Json }),
  }
}

type Operation = { responses: Record<string, Response>; requestBody?: RequestBody }
type Paths = Record<string, Record<string, Operation>>
type RequestBody = { required: boolean; content: { [type: string]: { schema: { $ref?: string } } } }
type Response = {
  description: string
  headers?: { [name: string]: Json }
  content?: { [type: string]: { schema?: { $ref?: string } } }
}

const operationsOf = (paths: Paths): Operation[] =>
  Object.values(paths).flatMap((path) => Object.values(path))

/** Returns whether a body has no required field, so that it can be left out. */
const mayBeAbsent = ({ content }: RequestBody, components: Record<string, Json>): boolean =>
  Object.values(content).every(({ schema }) => {
    const title = schema.$ref?.split('/').at(-1) ?? ''
    return (Object(components[title]) as { required?: string[] }).required === undefined
  })

const HEADERS = {
  'X-Request-Id': {
    description: "Identifies the call in the service's log.",
    schema: { type: 'string' },
  },
  'WWW-Authenticate': { description: '`Bearer`.', schema: { type: 'string', const: 'Bearer' } },
}

/** Adds the headers that all responses have, and descriptions where there are none. */
function completeResponses(paths: Paths): void {
  const all = operationsOf(paths).flatMap(({ responses }) => Object.entries(responses))
  for (const [status, response] of all) {
    const names = ['X-Request-Id', ...(status === '401' ? ['WWW-Authenticate'] : [])]
    const headers = names.map((name) => [name, { $ref: `#/components/headers/${name}` }])
    response.headers = { ...response.headers, ...Object.fromEntries(headers) }
    const title = response.content?.['application/json']?.schema?.$ref?.split('/').at(-1) ?? ''
    if (response.description !== 'Default Response') continue
    response.description = NOTES[title]?.description ?? title
  }
}
