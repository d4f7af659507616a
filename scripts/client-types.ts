/**
 * Writes the types of the TypeScript client, clients/typescript/api.ts, from the reviewed API
 * description: `npm run client-types`.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'

const DESCRIPTION = new URL('../test/contract/openapi.golden.json', import.meta.url)
export const CLIENT_TYPES = new URL('../clients/typescript/api.ts', import.meta.url)

/** The text of the file, as it should be. */
export async function makeClientTypes(): Promise<string> {
  // What has a default may be left out of a request.
  const tree = await openapiTS(JSON.parse(readFileSync(DESCRIPTION, 'utf8')), {
    defaultNonNullable: false,
  })
  const head = '// Made by `npm run client-types` from the API description; not to be edited.\n\n'
  return head + astToString(tree)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(CLIENT_TYPES, await makeClientTypes())
}
