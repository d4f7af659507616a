/** The package of the TypeScript client, as `npm publish` would make it. */

import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { layTypeScript } from '../../../scripts/setup/clients.mjs'

export const runFile = promisify(execFile)
export const TSC = join(process.cwd(), 'node_modules/typescript/bin/tsc')

/** The folder that is packed, next to the checkout; it goes with the test. */
export async function buildClient(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-client-'))
  const building = layTypeScript(folder)
  t.after(async () => {
    await building.catch(() => undefined) // it would write into what is removed
    await rm(folder, { recursive: true, force: true })
  })
  await building
  return folder
}
