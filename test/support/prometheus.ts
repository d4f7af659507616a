/** Prometheus and its promtool: those of this machine, or Debian's, unpacked without root. */

import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePorts } from './free-ports.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const UNPACKED = join(ROOT, '.runtime/prometheus')
const START_MS_MAX = 60_000

/** The folder that both programs are in. @throws Error with the command that installs them */
export async function prometheusFolder(): Promise<string> {
  const folders = [...(process.env.PATH ?? '').split(delimiter), join(UNPACKED, 'usr/bin')]
  const isThere = (folder: string) =>
    ['prometheus', 'promtool'].every((name) => existsSync(join(folder, name)))
  const found = folders.find(isThere)
  if (found !== undefined) return found
  try {
    await unpackPackage()
  } catch (cause) {
    const command = 'sudo apt-get update && sudo apt-get install -y prometheus'
    throw new Error(`Prometheus is needed and could not be fetched: ${command}`, { cause })
  }
  return join(UNPACKED, 'usr/bin')
}

/** Installing it would start a service; its package alone has all that the tests use. */
async function unpackPackage(): Promise<void> {
  const fresh = await mkdtemp(`${UNPACKED}.`)
  try {
    const download = (...options: string[]) =>
      run('apt-get', [...options, 'download', 'prometheus'], { cwd: fresh })
    await download().catch(async () => download(...(await ownLists(fresh))))
    const file = (await readdir(fresh)).find((name) => name.endsWith('.deb')) ?? ''
    await run('dpkg', ['--extract', file, 'unpacked'], { cwd: fresh })
    await rename(join(fresh, 'unpacked'), UNPACKED)
  } catch (error) {
    if (!existsSync(UNPACKED)) throw error // else another was faster
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

/** Runs promtool in the root of the checkout. @throws Error with what it found */
export async function promtool(...args: readonly string[]): Promise<void> {
  await run(join(await prometheusFolder(), 'promtool'), args, { cwd: ROOT })
}

/** Where the machine has no lists of packages, as in a container: options to use lists of ours. */
async function ownLists(folder: string): Promise<string[]> {
  const [lists, cache] = [join(folder, 'lists'), join(folder, 'cache')]
  await mkdir(join(lists, 'partial'), { recursive: true })
  await mkdir(join(cache, 'archives/partial'), { recursive: true })
  const options = ['-o', `Dir::State::Lists=${lists}`, '-o', `Dir::Cache=${cache}`]
  await run('apt-get', [...options, 'update'])
  return options
}

export interface Prometheus {
  /** Answers of its HTTP API: their `data`. */
  ask<T>(path: string): Promise<T>
}

/**
 * Starts one on the configuration of ops/, with these addresses (`host:port`) for those of its
 * example, until the test ends. It scrapes four times a second.
 */
export async function startPrometheus(
  t: TestContext,
  targets: { gateway: string; engines: readonly string[] },
): Promise<Prometheus> {
  const program = join(await prometheusFolder(), 'prometheus')
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'))
  const example = await readFile(join(ROOT, 'ops/prometheus.yml'), 'utf8')
  const config = example
    .replace('127.0.0.1:9080', targets.gateway)
    .replace('127.0.0.1:9081', targets.engines.join(`', '`))
    .replaceAll('15s', '250ms')
    .replace('alerts.yml', join(ROOT, 'ops/alerts.yml'))
  await writeFile(join(folder, 'prometheus.yml'), config)
  const [port] = await freePorts(1)
  const server = spawn(
    program,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let log = ''
  server.stderr.on('data', (text: Buffer) => {
    log = (log + text.toString()).slice(-20_000)
  })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  t.after(async () => {
    server.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  const url = `http://127.0.0.1:${port}`
  const deadline = Date.now() + START_MS_MAX
  while (!(await isReady(url))) {
    if (server.exitCode !== null || Date.now() > deadline) {
      throw new Error(`Prometheus did not start:\n${log}`)
    }
    await sleep(100)
  }
  return {
    async ask<T>(path: string) {
      const reply = (await (await fetch(`${url}/api/v1/${path}`)).json()) as {
        data: T
        error?: string
      }
      if (reply.error) throw new Error(`${path}: ${reply.error}`)
      return reply.data
    },
  }
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/-/ready`).then(
    ({ ok }) => ok,
    () => false,
  )
