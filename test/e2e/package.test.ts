/** The package that `npm run winnow -- package` builds, installed by npm into an empty folder. */

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { examplePath } from '../support/media/examples.ts'
import { API_KEY } from '../support/processes/start-winnow.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

test('winnow start and winnow separate work without a checkout', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-package-'))
  let stop = async () => {}
  t.after(async () => {
    await stop() // first, because a broker whose folder is gone is restarted
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const packed = await run('node', ['--import', 'tsx', 'scripts/tools/package.ts'], { cwd: ROOT })
  await mkdir(join(folder, 'node_modules'))
  const tarball = join(ROOT, packed.stdout.trim())
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: folder })

  // The checkout lends what set-up would install, to save time.
  const installed = join(folder, 'node_modules/winnow')
  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  const app = join(folder, 'home', version)
  const { layApp } = await import(pathToFileURL(join(installed, 'installation.mjs')).href)
  layApp(app)
  await assertSetUp() // otherwise set-up would replace the checkout's packages through the link
  await symlink(join(ROOT, 'node_modules'), join(app, 'node_modules'))
  for (const name of await readdir(join(ROOT, '.runtime'))) {
    if (['clients', 'docs', 'web'].includes(name)) continue // the package brings them
    await symlink(join(ROOT, '.runtime', name), join(app, '.runtime', name))
  }

  const env = { ...process.env, PORT: '0', GRPC_PORT: 'off', METRICS_PORT: 'off' }
  const service = spawn(join(folder, 'node_modules/.bin/winnow'), ['start'], {
    cwd: folder,
    env: { ...env, WINNOW_HOME: join(folder, 'home'), BOOTSTRAP_API_KEY: API_KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(service, 'exit')
  stop = async () => {
    service.kill('SIGTERM')
    await ended
  }
  const address = await addressIn(service.stdout)
  assert.match(await (await fetch(address)).text(), /<title>Winnow<\/title>/)
  const clients = await (await fetch(`${address}/clients`)).json()
  assert.equal((clients as { data: unknown[] }).data.length, 2)
  const words = [examplePath('speech-over-piano.wav'), 'piano', '--url', address, '--out', folder]
  await run(join(folder, 'node_modules/.bin/winnow'), ['separate', ...words], {
    env: { ...process.env, WINNOW_API_KEY: API_KEY },
  })
  for (const name of ['piano', 'rest.without-piano']) {
    assert.ok((await stat(join(folder, `speech-over-piano.${name}.wav`))).size > 100_000, name)
  }
  const listing = ['requests', 'list', '--json', '--url', address]
  const { stdout } = await run(join(folder, 'node_modules/.bin/winnow'), listing, {
    env: { ...process.env, WINNOW_API_KEY: API_KEY },
  })
  assert.equal(JSON.parse(stdout).data[0].prompt, 'piano')
  await stat(join(folder, 'data/winnow.db'))
})

async function assertSetUp(): Promise<void> {
  const lock = await readFile(join(ROOT, 'package-lock.json'))
  const installed = await readFile(join(ROOT, 'node_modules/.winnow-installed'), 'utf8')
  const hash = createHash('sha256').update(lock).digest('hex')
  assert.equal(installed, hash, 'the packages are not those of the lock file: run npm run setup')
}

/** Reads the service's address from its output. */
function addressIn(output: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    output.on('data', (piece) => {
      text += String(piece)
      const [, address] = /Winnow listens on\s+(\S+)/.exec(text) ?? []
      if (address) resolve(address)
    })
    output.on('end', () => reject(new Error(`it ended without serving:\n${text}`)))
  })
}
