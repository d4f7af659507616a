/** Set-up's SQLite driver for Node 20: compiled from its package, and nothing is fetched for it. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const PACKAGE = 'node_modules/better-sqlite3-node20'
const isNode20 = Number(process.versions.napi) < 10

/** Counts who connects to it, as to a proxy or a release page. */
async function startTrap(t: TestContext) {
  let calls = 0
  const server = createServer((socket) => {
    calls += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, calls: () => calls }
}

/** A checkout with this one's packages, whose driver is not built. */
async function freshCheckout(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-driver-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'node_modules'))
  await cp(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true })
  await cp(join(ROOT, PACKAGE), join(folder, PACKAGE), {
    recursive: true,
    filter: (path) => !path.startsWith(join(ROOT, PACKAGE, 'build')),
  })
  for (const name of ['node-gyp', 'bindings', 'file-uri-to-path', 'prebuild-install', '.bin']) {
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json'))
  return folder
}

test(
  'on Node 20 the driver is compiled from its sources, and no download is tried',
  { skip: !isNode20 && 'a later Node comes with its driver' },
  async (t) => {
    const [trap, folder] = [await startTrap(t), await freshCheckout(t)]
    const settings = ['proxy', 'https_proxy', 'registry', 'better_sqlite3_node20_binary_host']
    const env = {
      ...process.env,
      ...Object.fromEntries(settings.map((name) => [`npm_config_${name}`, trap.url])),
      npm_config_better_sqlite3_binary_host: trap.url,
      HTTP_PROXY: trap.url,
      HTTPS_PROXY: trap.url,
      WINNOW_CACHE_DIR: join(folder, 'cache'),
    }
    const script = `import { sqliteStep } from '${join(folder, 'scripts/setup/addons.mjs')}'
      const step = sqliteStep()
      if (step.isDone()) throw new Error('it is built already')
      await step.run()
      if (!step.isDone()) throw new Error('it is not built')`
    const words = ['--input-type=module', '--eval', script]
    await promisify(execFile)(process.execPath, words, { cwd: folder, env })
    assert.equal(trap.calls(), 0)
  },
)
