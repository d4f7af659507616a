/**
 * `winnow client-types`: writes the clients' types, clients/typescript/api.ts and
 * clients/python/src/winnow_client/_api.py, from the reviewed API description.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import { makePythonTypes } from './python-types.ts'

const DESCRIPTION = new URL('../../test/contract/openapi.golden.json', import.meta.url)
export const CLIENT_TYPES = new URL('../../clients/typescript/api.ts', import.meta.url)
export const PYTHON_TYPES = new URL(
  '../../clients/python/src/winnow_client/_api.py',
  import.meta.url,
)

/** Schemas of the requests and responses of a client, and of webhook events. */
const PYTHON_SCHEMAS = [
  'CreateFileRequest',
  'CreateFileResponse',
  'File',
  'FileList',
  'ModelList',
  'SubmitAudioSeparateRequest',
  'QueueSubmitResponse',
  'QueueStatusResponse',
  'QueueResultResponse',
  'SubmitAudioSoundsRequest',
  'SoundsResultResponse',
  'RequestList',
  'WebhookDeliveryStatus',
  'DeliveryAttemptList',
  'WebhookTestRequest',
  'WebhookTestResult',
  'Account',
  'Usage',
  'NewShare',
  'ShareList',
  'SharedResult',
  'LivePreview',
  'SeparationCompletedEvent',
  'SeparationFailedEvent',
  'SoundsCompletedEvent',
  'SoundsFailedEvent',
]

/** Leaves out examples, which the reference has, and forms, of which nobody makes an object. */
const readDescription = () =>
  JSON.parse(readFileSync(DESCRIPTION, 'utf8'), (key, value) =>
    key === 'examples' || key.endsWith('Form') ? undefined : value,
  )

/**
 * Comment lines that repeat the type or the name: `@constant`, `@enum`, a type's own name, and the
 * format of what ends with `url` or `_at`.
 */
const SAYS_WHAT_THE_CODE_SAYS =
  /^ *(\/\*\* )?\*? ?(@(enum \{\w+\}|constant)|Format: (uri|date-time)|[A-Z]\w+)( \*\/)?\n/gm
/** A comment of which that has left one line. */
const ONE_LINE = /\/\*\*\n *\* (.*)\n *\*\/\n/g

/** Returns the up-to-date content of `CLIENT_TYPES`. */
export async function makeClientTypes(): Promise<string> {
  // The client has its own names for the calls, so it needs only the schemas.
  const { openapi, info, components } = readDescription()
  const schemas = { openapi, info, paths: {}, components: { schemas: components.schemas } }
  // A request may omit fields that have a default.
  const tree = await openapiTS(schemas, { defaultNonNullable: false })
  const head =
    '// Made by `npm run winnow -- client-types` from the API description; do not edit.\n\n'
  const types = astToString(tree).replace(SAYS_WHAT_THE_CODE_SAYS, '')
  return head + types.replace(ONE_LINE, '/** $1 */\n')
}

/** Returns the up-to-date content of `PYTHON_TYPES`. */
export const makePythonClientTypes = (): string =>
  makePythonTypes(readDescription().components.schemas, PYTHON_SCHEMAS)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(CLIENT_TYPES, await makeClientTypes())
  writeFileSync(PYTHON_TYPES, makePythonClientTypes())
}
