/**
 * Docker Compose, as a plug-in of the Docker client: this machine's, or Debian's, unpacked without
 * root.
 */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ownLists } from './debian-package.ts'

const run = promisify(execFile)
/** Configuration folder of the Docker client. */
const CONFIG = fileURLToPath(new URL('../../../.runtime/docker-config', import.meta.url))
/** Debian 12 only has an older Compose; the one from Debian 13 runs there too. */
const SOURCES =
  'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ' +
  'http://deb.debian.org/debian trixie main\n'

/**
 * Returns the environment variables with which `docker compose` works.
 * @throws Error if Compose can't be fetched
 */
export async function composeEnvironment(): Promise<NodeJS.ProcessEnv> {
  const isThere = await run('docker', ['compose', 'version']).then(
    () => true,
    () => false,
  )
  if (isThere) return {}
  if (!existsSync(CONFIG)) await unpack()
  return { DOCKER_CONFIG: CONFIG }
}

async function unpack(): Promise<void> {
  const fresh = await mkdtemp(`${CONFIG}.`)
  try {
    const options = await ownLists(fresh, SOURCES)
    await run('apt-get', [...options, 'download', 'docker-compose'], { cwd: fresh })
    const file = (await readdir(fresh)).find((name) => name.endsWith('.deb'))!
    await run('dpkg', ['--extract', file, 'unpacked'], { cwd: fresh })
    await rename(join(fresh, 'unpacked/usr/libexec/docker'), CONFIG) // contains cli-plugins/
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}
