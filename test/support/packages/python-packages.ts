/** Installs Python packages that tests use, each set in its own folder under .runtime. */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { fetchedOnce } from './fetched-once.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * Returns a folder with packages such as `weed==1.2`, fetching them if necessary. Avoids virtual
 * environments, because a fresh Debian has pip but not the module that creates them.
 */
export async function pythonPackages(...packages: readonly string[]): Promise<string> {
  const options = ['--quiet', '--disable-pip-version-check', '--target']
  return fetchedOnce(packages.join('-').replaceAll('==', '-'), async (fresh) => {
    const { code, output } = await python(['-m', 'pip', 'install', ...options, fresh, ...packages])
    if (code !== 0) throw new Error(`${packages.join(', ')} could not be installed:\n${output}`)
  })
}

/** Runs Python in the root of the checkout; resolves with its exit code and output. */
export async function python(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn('python3', args, {
    cwd: ROOT,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const pipe of [child.stdout, child.stderr]) {
    pipe.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  return { code, output }
}
