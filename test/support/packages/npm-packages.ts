/**
 * Installs npm packages that only one test uses and that are too large for everybody's
 * node_modules.
 */

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fetchedOnce } from './fetched-once.ts'

const runFile = promisify(execFile)

/**
 * Returns a `node_modules` with packages such as `weed@1.2.0`, fetching them if necessary. Their
 * install scripts do not run.
 * @param name folder in .runtime
 */
export async function npmPackages(name: string, ...packages: readonly string[]): Promise<string> {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save']
  const folder = await fetchedOnce(name, (fresh) =>
    runFile('npm', ['install', '--prefix', fresh, ...options, ...packages]),
  )
  return join(folder, 'node_modules')
}
