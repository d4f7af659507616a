/** The package of the TypeScript client, as `npm publish` would make it. */

import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'

export const runFile = promisify(execFile)
export const TSC = join(process.cwd(), 'node_modules/typescript/bin/tsc')
const SOURCE = 'clients/typescript'

/** The folder that is packed, next to the checkout; it goes with the test. */
export async function buildClient(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-client-'))
  const building = buildInto(folder)
  t.after(async () => {
    await building.catch(() => undefined) // it would write into what is removed
    await rm(folder, { recursive: true, force: true })
  })
  await building
  return folder
}

async function buildInto(folder: string): Promise<void> {
  for (const name of ['package.json', 'README.md', 'LICENSE']) {
    await cp(join(SOURCE, name), join(folder, name))
  }
  await runFile('node', [TSC, '-p', SOURCE, '--outDir', join(folder, 'dist')])
}
