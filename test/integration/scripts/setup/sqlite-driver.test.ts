/**
 * Set-up's SQLite driver for Node 20 is compiled, or comes prebuilt in a package; nothing is
 * fetched.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFile, cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findPrebuilt, layPrebuilt } from '../../../../scripts/setup/prebuilt.mjs'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const PACKAGE = 'node_modules/better-sqlite3-node20'
const isNode20 = Number(process.versions.napi) < 10

/** Counts connections, such as those to a proxy or a release page. */
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

/** Makes a checkout with this one's packages, in which the driver is not built. */
async function freshCheckout(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t)
  await mkdir(join(folder, 'node_modules'))
  await cp(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true })
  await cp(join(ROOT, PACKAGE), join(folder, PACKAGE), {
    recursive: true,
    filter: (path) => !path.startsWith(join(ROOT, PACKAGE, 'build')),
  })
  for (const name of ['node-gyp', 'bindings', 'file-uri-to-path', 'prebuild-install', '.bin']) {
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
  for (const name of ['package.json', 'package-lock.json']) {
    await cp(join(ROOT, name), join(folder, name))
  }
  return folder
}

/**
 * Runs the step in a checkout.
 * @param needsCompiler whether the step must say beforehand that it needs one
 */
async function makeDriver(folder: string, needsCompiler: boolean, env: NodeJS.ProcessEnv = {}) {
  const script = `import { sqliteStep } from '${join(folder, 'scripts/setup/addons.mjs')}'
    const step = sqliteStep()
    if (step.isDone()) throw new Error('it is built already')
    if (step.needsCompiler() !== ${needsCompiler}) throw new Error('a compiler?')
    await step.run()
    if (!step.isDone()) throw new Error('it is not built')`
  const words = ['--input-type=module', '--eval', script]
  const own = { WINNOW_CACHE_DIR: join(folder, 'cache') }
  return promisify(execFile)(process.execPath, words, {
    cwd: folder,
    env: { ...process.env, ...own, ...env },
  })
}

const skip = !isNode20 && 'a later Node comes with its driver'

test('on Node 20 the driver is compiled, and no download is attempted', { skip }, async (t) => {
  const [trap, folder] = [await startTrap(t), await freshCheckout(t)]
  const settings = ['proxy', 'https_proxy', 'registry', 'better_sqlite3_node20_binary_host']
  await makeDriver(folder, true, {
    ...Object.fromEntries(settings.map((name) => [`npm_config_${name}`, trap.url])),
    npm_config_better_sqlite3_binary_host: trap.url,
    HTTP_PROXY: trap.url,
    HTTPS_PROXY: trap.url,
  })
  assert.equal(trap.calls(), 0)
})

/** A PATH without a compiler. */
const NO_TOOLS = { PATH: '/nowhere', CXX: '' }

test('a driver that comes with the package needs no compiler', { skip }, async (t) => {
  const folder = await freshCheckout(t)
  const built = join(ROOT, PACKAGE, 'build/Release/better_sqlite3.node')
  layPrebuilt(join(folder, 'prebuilt'), { [await keyOf(folder)]: built })
  await makeDriver(folder, false, NO_TOOLS)
})

test('a driver of the package that does not load here is compiled', { skip }, async (t) => {
  const folder = await freshCheckout(t)
  const broken = join(folder, 'broken')
  await writeFile(broken, 'no addon')
  layPrebuilt(join(folder, 'prebuilt'), { [await keyOf(folder)]: broken })
  await assert.rejects(makeDriver(folder, false, NO_TOOLS), ({ stdout, stderr }) => {
    assert.match(stdout, /the prebuilt addon does not load here: compiling it/)
    assert.match(stderr, /node-gyp/)
    return true
  })
})

test('an addon with another key or hash is not used', async (t) => {
  const folder = temporaryFolder(t)
  assert.equal(findPrebuilt(folder, 'one'), undefined, 'a checkout has none')
  const addon = join(folder, 'addon')
  await writeFile(addon, 'compiled')
  layPrebuilt(join(folder, 'prebuilt'), { one: addon })
  const find = (key: string) => findPrebuilt(join(folder, 'prebuilt'), key)
  assert.equal(find('one'), join(folder, 'prebuilt/one.node'))
  assert.equal(find('two'), undefined)
  await appendFile(find('one')!, 'changed')
  assert.equal(find('one'), undefined)
  await rm(join(folder, 'prebuilt/one.node'))
  assert.equal(find('one'), undefined)
})

async function keyOf(folder: string): Promise<string> {
  const script = `import { sqliteStep } from '${join(folder, 'scripts/setup/addons.mjs')}'
    console.log(sqliteStep().key)`
  const words = ['--input-type=module', '--eval', script]
  return (await promisify(execFile)(process.execPath, words)).stdout.trim()
}
