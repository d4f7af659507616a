/** The package of the TypeScript client, as `npm publish` would make it. */

import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'

export const runFile = promisify(execFile)
export const TSC = join(process.cwd(), 'node_modules/typescript/bin/tsc')
const SOURCE = 'clients/typescript'

/** The folder that is packed, beside the checkout; it goes with the test. */
export async function buildClient(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-client-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  for (const name of ['package.json', 'README.md', 'LICENSE']) {
    await cp(join(SOURCE, name), join(folder, name))
  }
  await runFile('node', [TSC, '-p', SOURCE, '--outDir', join(folder, 'dist')])
  return folder
}
