/**
 * Starts a nats-server of our own on loopback, on a free port, with a token or the users of its
 * settings, and with JetStream on disk.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../../../shared/process/lifecycle.ts'
import { makeFolder } from '../../../shared/process/make-folder.ts'
import { setUpAgain } from '../command-name.ts'
import { logSince, sizeOf } from './log-tail.ts'

const BINARY = fileURLToPath(new URL('../../../.runtime/nats-server/nats-server', import.meta.url))
const START_MS_MAX = 15_000

export interface NatsServer {
  /** Includes the token; passed to gateway and engine, never logged. */
  url: string
  process: ChildProcess
}

export interface NatsServerOptions {
  /** Holds the store, the settings (with the token, readable only by the owner) and the log. */
  folder: string
  /** Port 0 takes any free port. */
  port?: number
  /** To return where clients know it; created by default; null if `settings` names users. */
  token?: string | null
  /** Further lines of its settings, for example for a cluster. */
  settings?: readonly string[]
}

/**
 * Resolves when the server answers on its port.
 * @throws Error with its log if it does not start within 15 s
 */
export async function startNatsServer({
  folder,
  port = 0,
  token = randomBytes(24).toString('base64url'),
  settings: more = [],
}: NatsServerOptions): Promise<NatsServer> {
  await makeFolder(folder, 0o700)
  await endFormerServer(folder)
  const settings = join(folder, 'nats.conf')
  const entrance = token === null ? [] : [`authorization { token: "${token}" }`]
  const lines = [...natsSettings(folder, port), ...entrance, ...more, '']
  await writeFile(settings, lines.join('\n'), { mode: 0o600 })
  const logStart = sizeOf(join(folder, LOG))
  // In a process group of its own, so that Ctrl-C in a terminal does not end it before gateway and
  // engine.
  const process = spawn(BINARY, ['--config', settings], { stdio: 'ignore', detached: true })
  const address = await listeningAddress(folder, process, logStart)
  return { url: `nats://${token === null ? '' : `${token}@`}${address}`, process }
}

const LOG = 'nats.log'

const natsSettings = (folder: string, port: number): string[] => [
  `listen: "127.0.0.1:${port === 0 ? -1 : port}"`,
  `jetstream { store_dir: ${JSON.stringify(join(folder, 'store'))} }`,
  `pid_file: ${JSON.stringify(join(folder, 'nats.pid'))}`,
  `ports_file_dir: ${JSON.stringify(folder)}`,
  `log_file: ${JSON.stringify(join(folder, LOG))}`,
  'log_size_limit: 10MB',
  'log_max_num: 5', // including the file that is being written
]

/**
 * A server that outlived its killed parent still uses the store, and two of them would corrupt it.
 */
async function endFormerServer(folder: string): Promise<void> {
  for (const file of await readdir(folder)) {
    if (file.endsWith('.ports')) await rm(join(folder, file))
  }
  const pid = Number(await readFile(join(folder, 'nats.pid'), 'utf8').catch(() => ''))
  if (!pid) return
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  if (!commandLine.includes(join(folder, 'nats.conf'))) return
  process.kill(pid, 'SIGTERM')
  while (existsSync(`/proc/${pid}`)) await sleep(50)
}

async function listeningAddress(
  folder: string,
  server: ChildProcess,
  logStart: number,
): Promise<string> {
  const failure = new Promise<never>((_, reject) => {
    server.once('error', ({ message }) =>
      reject(new StartError(`${BINARY} can't be run (${message}). ${setUpAgain()}`)),
    )
    server.once('exit', (code) => reject(new Error(`nats-server ended with ${code}`)))
  })
  failure.catch(() => undefined)
  const deadline = Date.now() + START_MS_MAX
  try {
    for (;;) {
      const file = (await readdir(folder)).find((name) => name.endsWith(`_${server.pid}.ports`))
      const text = file ? await readFile(join(folder, file), 'utf8') : ''
      if (text.trim().endsWith('}')) {
        const { nats } = JSON.parse(text) as { nats: string[] }
        return new URL(nats[0] ?? '').host
      }
      if (Date.now() > deadline) throw new Error(`nats-server did not start in ${START_MS_MAX} ms`)
      await Promise.race([sleep(20), failure])
    }
  } catch (error) {
    server.kill()
    const log = logSince(join(folder, LOG), logStart, 2_000)
    throw new StartError(`${(error as Error).message}\n${log}`.trimEnd(), { cause: error })
  }
}
