/** `npm start`: only one runs per data folder, and it ends with npm. */

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient } from '../../clients/typescript/node.ts'
import { takeLock } from '../../shared/process/file-lock.ts'
import { serve } from '../support/http/serve.ts'
import { noise } from '../support/media/signals.ts'
import { wavBytes } from '../support/media/wav.ts'
import { keepingBusy } from '../support/processes/start-winnow.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PORTS = { PORT: '0', GRPC_PORT: 'off', METRICS_PORT: 'off' }
/** Runs as in another container: it sees none of our processes, and its process ids overlap with ours. */
const ELSEWHERE = ['unshare', '--pid', '--fork', '--mount-proc', '--uts']

/** Runs `npm start` on the folder. @param before words to put before the command */
function npmStart(
  t: TestContext,
  folder: string,
  before: readonly string[] = [],
  settings: Record<string, string> = {},
) {
  const [command = '', ...words] = [...before, 'npm', 'start']
  const env = { ...process.env, ...PORTS, ...settings, DATA_DIR: folder }
  const npm = spawn(command, words, { cwd: ROOT, env, detached: true }) // in its own process group
  let printed = ''
  for (const output of [npm.stdout, npm.stderr]) {
    output.on('data', (piece) => (printed += String(piece)))
  }
  const ended = once(npm, 'close') as Promise<[number | null]>
  t.after(async () => {
    if (isGroupThere(npm.pid!)) process.kill(-npm.pid!, 'SIGINT')
    while (isGroupThere(npm.pid!)) await sleep(50)
  })
  return { npm, ended, printed: () => printed }
}

function isGroupThere(leader: number): boolean {
  try {
    return process.kill(-leader, 0)
  } catch {
    return false
  }
}

type StartedService = ReturnType<typeof npmStart>

async function untilPrinted({ npm, printed }: StartedService, text: string): Promise<void> {
  while (!printed().includes(text)) {
    assert.equal(npm.exitCode, null, printed())
    await sleep(50)
  }
}

async function startOn(
  t: TestContext,
  settings: Record<string, string> = {},
  name = 'winnow-start-',
): Promise<StartedService & { folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), name))
  const started = npmStart(t, folder, [], settings)
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 })) // after it has ended
  await untilPrinted(started, 'Ctrl-C stops it')
  return { ...started, folder }
}

async function assertRefused(second: StartedService, folder: string): Promise<void> {
  const [code] = await second.ended
  assert.equal(code, 1, second.printed())
  assert.match(
    second.printed(),
    new RegExp(
      `^Winnow is already running on ${folder} \\(process \\d+ on \\S+\\)\\. Stop it there`,
      'm',
    ),
  )
}

test('npm start says where its secrets are and what to try, refuses a second one, and ends with npm', async (t) => {
  const { npm, folder, printed } = await startOn(t, {}, "winnow start's ")
  const path = join(folder, 'api-key')
  const key = (await readFile(path, 'utf8')).trim()
  assert.equal(printed().includes(key), false)
  assert.match(printed(), new RegExp(`API key +in ${path}\n`))
  assert.doesNotMatch(printed(), /#\w+=|adm_|[0-9a-f]{64}/)
  const { WINNOW_URL: _url, WINNOW_API_KEY: _key, ...env } = process.env
  const run = (line: string) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd: ROOT, env })
    assert.equal(status, 0, `${line}\n${String(stderr)}`)
    return String(stdout)
  }
  for (const [name, code] of [
    ['Try it in a page', /\/#code=[0-9a-f]{64}\n$/],
    ['For admins', /\/#admin=adm_code_\w+\n$/],
  ] as const) {
    const [, open = ''] =
      RegExp(`${name} +(DATA_DIR=.* npm run winnow -- open.*)\n`).exec(printed()) ?? []
    assert.match(run(open), code)
  }
  const lines = printed().match(/^ {4}(curl|DATA_DIR=).*$/gm) ?? []
  assert.equal(lines.length, 2, printed())
  assert.match(run(lines[0]!), /"audio\/separate"/)
  const list = lines[1]!.replace(/npm run separate .*/, 'npm run -s winnow -- requests list')
  assert.notEqual(list, lines[1])
  run(list)

  await assertRefused(npmStart(t, folder), folder)
  const { status, stderr } = spawnSync(ELSEWHERE[0]!, [...ELSEWHERE.slice(1), 'true'])
  if (status === 0) await assertRefused(npmStart(t, folder, ELSEWHERE), folder)
  else t.diagnostic(`no container, since there are no namespaces: ${String(stderr)}`)

  const broker = (await readFile(join(folder, 'nats/nats.pid'), 'utf8')).trim()
  assert.ok(existsSync(`/proc/${broker}`))
  for (const output of [npm.stdout, npm.stderr]) output.destroy() // as if tee had ended first
  npm.kill('SIGTERM') // only npm gets it
  await once(npm, 'exit')
  assert.equal(await takeLock(join(folder, 'winnow.lock')), null)
  assert.ok(!existsSync(join(folder, 'address')))
  assert.ok(!existsSync(`/proc/${broker}`))
})

interface StartSettings {
  folder: string
  port?: number
  /** Id of the user to run as, if not the current one. */
  uid?: number
}

/** Returns the errors of a start that fails. */
function startFailing({ folder, port = 0, uid }: StartSettings): string {
  const env = { ...process.env, ...PORTS, PORT: String(port), DATA_DIR: folder }
  const words = ['scripts/run.mjs', 'scripts/cli/start.ts']
  const options = { cwd: ROOT, env, timeout: 60_000, encoding: 'utf8', uid } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, words, options)
  assert.equal(status, 1, stdout + stderr)
  return stderr
}

test('a data folder that takes no files is reported in a sentence, without retries', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-start-'))
  t.after(() => rm(folder, { recursive: true }))
  const nowhere = startFailing({ folder: '/proc/none/data' })
  assert.match(nowhere, /^DATA_DIR: \/proc\/none\/data takes no files \(ENOENT.*\)\. Name .*\n$/)
  const readOnly = startFailing({ folder: '/sys/data' })
  assert.match(readOnly, /^DATA_DIR: \/sys\/data takes no files \(E(PERM|ACCES|ROFS).*\)\. .*\n$/)
  if (process.getuid?.() !== 0) return t.diagnostic('only root starts it as another user')
  await mkdir(join(folder, 'nats'), { mode: 0o700 })
  for (const mode of [0o755, 0o777]) {
    await chmod(folder, mode) // first no lock can be written; then one can, but nothing in the broker's folder
    const ofOthers = startFailing({ folder, uid: 65_534 })
    assert.match(
      ofOthers,
      /^DATA_DIR: .* takes no files \(EACCES.*\)\. Run Winnow as the user .*\n$/,
    )
  }
})

test('a port in use is named with its setting, at each start anew', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-start-'))
  t.after(() => rm(folder, { recursive: true, maxRetries: 5 }))
  for (let i = 0; i < 2; i += 1) {
    const { url } = await serve(t, (_request, reply) => void reply.end())
    const { port } = new URL(url)
    assert.equal(
      startFailing({ folder, port: Number(port) }),
      `The gateway did not start. PORT: another program listens at 127.0.0.1:${port}. ` +
        'End it, or set PORT to another port.\n',
    )
  }
})

/** Returns the processes that run the program on the folder, compiled or not. */
async function processesOf(program: string, folder: string): Promise<number[]> {
  const compiled = program.replaceAll('/', '.').replace(/ts$/, 'mjs')
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const isOurs = async (id: string) => {
    const read = (name: string) => readFile(`/proc/${id}/${name}`, 'utf8').catch(() => '')
    const [words, env] = [await read('cmdline'), await read('environ')]
    const runs = words.split('\0').some((word) => word === program || word.endsWith(`/${compiled}`))
    return runs && env.includes(`DATA_DIR=${folder}\0`)
  }
  const ours = await Promise.all(ids.map(isOurs))
  return ids.filter((_, i) => ours[i]).map(Number)
}

test('a broker and an engine that end are restarted, and a gateway left alone ends', async (t) => {
  const started = await startOn(t, { LEASE_SECONDS: '2' })
  const { folder, printed } = started
  const [, baseUrl = ''] = /Winnow listens on {2}(\S+)/.exec(printed())!
  const untilReadiness = async (status: number) => {
    while ((await fetch(`${baseUrl}/readyz`)).status !== status) await sleep(100)
  }
  const brokerId = async () => Number(await readFile(join(folder, 'nats/nats.pid'), 'utf8'))
  const settings = join(folder, 'nats/nats.conf')
  await rm(settings)
  await mkdir(settings) // a folder can't be overwritten as a file
  process.kill(await brokerId(), 'SIGKILL')
  await untilPrinted(started, 'nats-server does not start; retrying: ')
  await untilReadiness(503)
  await rmdir(settings)
  await untilReadiness(200)

  const apiKey = (await readFile(join(folder, 'api-key'), 'utf8')).trim()
  const client = createClient({ baseUrl, apiKey })
  const path = join(folder, 'long.wav')
  await writeFile(path, wavBytes([noise(40, 8_000)], 8_000))
  const fileId = await client.upload(path, 'audio/wav')
  const submitted = await client.submit({ input: { ...keepingBusy(4), file_id: fileId } })
  let [aborted, last] = [0, '']
  for await (const { status, progress = 0 } of client.follow(submitted)) {
    last = status
    if (status !== 'IN_PROGRESS' || progress === 0 || aborted > 0) continue
    for (const id of await processesOf('engine/main.ts', folder)) {
      process.kill(id, 'SIGABRT') // as libtensorflow does when a GPU fails asynchronously
      aborted += 1
    }
  }
  assert.equal(aborted, 1)
  await untilPrinted(started, 'The engine ended with SIGABRT; starting it again')
  assert.equal(last, 'COMPLETED')

  const [starter] = await processesOf('scripts/cli/start.ts', folder)
  const broker = await brokerId()
  process.kill(starter!, 'SIGKILL')
  while (existsSync(join(folder, 'address'))) await sleep(50) // the gateway removes it as it ends
  process.kill(broker)
})
