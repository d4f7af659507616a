/**
 * `winnow client-types`: writes the clients' types, clients/typescript/api.ts and
 * clients/python/src/winnow_client/_api.py, from the reviewed API description. They contain the
 * schemas that the clients and the page use, with all that these refer to.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString, type SchemaObject } from 'openapi-typescript'
import { makePythonTypes } from './python-types.ts'

const ROOT = new URL('../../', import.meta.url)
const DESCRIPTION = new URL('test/contract/openapi.golden.json', ROOT)
export const CLIENT_TYPES = new URL('clients/typescript/api.ts', ROOT)
export const PYTHON_TYPES = new URL('clients/python/src/winnow_client/_api.py', ROOT)

/** Folders with the users of `CLIENT_TYPES`, which name schemas as `Schemas['Account']`. */
const USERS = [new URL('clients/typescript/', ROOT), new URL('web/', ROOT)]
const USED_SCHEMA = /[sS]chemas(?:'\])?\['(\w+)'\]/g
/** The user of `PYTHON_TYPES`, which imports them all in one statement. */
const PYTHON_USER = new URL('clients/python/src/winnow_client/types.py', ROOT)
const PYTHON_IMPORT = /^from \._api import \(([^)]*)\)/m

/** Leaves out examples, which the reference has. */
const readDescription = () =>
  JSON.parse(readFileSync(DESCRIPTION, 'utf8'), (key, value) =>
    key === 'examples' ? undefined : value,
  )

/**
 * Comment lines that repeat the type or the name: `@constant`, `@enum`, a type's own name, and the
 * format of what ends with `url` or `_at`.
 */
const SAYS_WHAT_THE_CODE_SAYS =
  /^ *(\/\*\* )?\*? ?(@(enum \{\w+\}|constant)|Format: (uri|date-time)|[A-Z]\w+)( \*\/)?\n/gm
/** A comment that has one line left, perhaps besides a default. */
const ONE_LINE = /\/\*\*\n *\* (.*)\n *\*\/\n/g
const WITH_DEFAULT = /\/\*\*\n *\* (.*)\n *\* @default (.*)\n *\*\/\n/g
/** The sections of a description other than its schemas. */
const EMPTY = /^(export type (paths|webhooks|\$defs|operations) = .*|    (\w+): never;)\n/gm

/** Returns the up-to-date content of `CLIENT_TYPES`. */
export async function makeClientTypes(): Promise<string> {
  const { openapi, info, components } = readDescription()
  const schemas = withReferences(components.schemas, USERS.flatMap(schemasUsedIn))
  const description = { openapi, info, paths: {}, components: { schemas } }
  // A request may omit fields that have a default.
  const tree = await openapiTS(description, { defaultNonNullable: false })
  const head =
    '// Made by `npm run winnow -- client-types` from the API description; do not edit.\n\n'
  const types = astToString(tree)
    .replace(SAYS_WHAT_THE_CODE_SAYS, '')
    .replace(EMPTY, '')
    .replace(ONE_LINE, '/** $1 */\n')
    .replace(WITH_DEFAULT, '/** $1 Default: $2. */\n')
    .replaceAll('@description ', '')
  return head + types
}

function schemasUsedIn(folder: URL): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const sources = files.filter((file) => /\.tsx?$/.test(file) && !file.startsWith('dist/'))
  return sources.flatMap((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8')
    return Array.from(text.matchAll(USED_SCHEMA), ([, name]) => name!)
  })
}

/** Returns the named schemas and all that they refer to, in the order of the description. */
function withReferences(schemas: Record<string, SchemaObject>, names: readonly string[]) {
  const all = new Set(names)
  for (const name of all) {
    const references = JSON.stringify(schemas[name]).matchAll(/"#\/components\/schemas\/(\w+)"/g)
    for (const [, other] of references) all.add(other!)
  }
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => all.has(name)))
}

/** Returns the up-to-date content of `PYTHON_TYPES`. */
export function makePythonClientTypes(): string {
  const [, names = ''] = PYTHON_IMPORT.exec(readFileSync(PYTHON_USER, 'utf8')) ?? []
  return makePythonTypes(readDescription().components.schemas, names.match(/\w+/g) ?? [])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(CLIENT_TYPES, await makeClientTypes())
  writeFileSync(PYTHON_TYPES, makePythonClientTypes())
}
