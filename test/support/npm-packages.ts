/** npm packages that a test alone uses, and that are too large for everybody's node_modules. */

import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { runFile } from './client-package.ts'

/**
 * The `node_modules` with the packages, such as `weed@1.2.0`, which are fetched when they are not
 * there. No script of theirs is run.
 * @param name of their folder in .runtime
 */
export async function npmPackages(name: string, ...packages: readonly string[]): Promise<string> {
  const folder = join(process.cwd(), '.runtime', name)
  if (!existsSync(folder)) {
    const fresh = await mkdtemp(`${folder}.`)
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save']
    await runFile('npm', ['install', '--prefix', fresh, ...options, ...packages])
    await rename(fresh, folder).catch(() => rm(fresh, { recursive: true })) // another was faster
  }
  return join(folder, 'node_modules')
}
