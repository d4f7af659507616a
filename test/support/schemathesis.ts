/** Schemathesis, which tests an HTTP API against its own description, as a function. */

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PACKAGES = ['schemathesis==4.32.5', 'hypothesis==6.170.15']
const FOLDER = join(ROOT, '.runtime', PACKAGES.join('-').replaceAll('==', '-'))

interface Target {
  url: string
  key: string
  /** An uploaded file that may be submitted. */
  fileId: string
}

/** Resolves with its exit code, 0 when nothing was found, and its report. */
export async function runSchemathesis({ url, key, fileId }: Target) {
  if (!existsSync(FOLDER)) await install()
  return python([
    '-m', 'schemathesis.cli', '--config-file', 'test/support/schemathesis.toml', '--no-color',
    'run', `${url}/v1/openapi.json`,
  ], { PYTHONPATH: `${FOLDER}:${ROOT}/test/support`, WINNOW_KEY: key, WINNOW_FILE_ID: fileId })
}

/** A folder of its own, since a fresh Debian has pip but no module for virtual environments. */
async function install(): Promise<void> {
  const fresh = await mkdtemp(`${FOLDER}.`)
  const { code, output } = await python([
    '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', fresh, ...PACKAGES,
  ])
  if (code !== 0) throw new Error(`schemathesis could not be installed:\n${output}`)
  await rename(fresh, FOLDER).catch(() => rm(fresh, { recursive: true })) // another was faster
}

async function python(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn('python3', args, {
    cwd: ROOT,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const pipe of [child.stdout, child.stderr]) {
    pipe.setEncoding('utf8').on('data', (text: string) => { output += text })
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  return { code, output }
}
