/** Builds the package of the TypeScript client the way `npm publish` would. */

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

/** Builds the folder to pack, which is outside the checkout and removed after the test. */
export async function buildClient(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-client-'))
  const building = layTypeScript(folder)
  t.after(async () => {
    await building.catch(() => undefined) // a build still running would write into the removed folder
    await rm(folder, { recursive: true, force: true })
  })
  await building
  return folder
}
