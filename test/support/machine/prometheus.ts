/** Runs Prometheus and promtool: the machine's own, or Debian's, unpacked without root. */

import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { debianPrograms } from './debian-package.ts'
import { freePorts } from '../processes/free-ports.ts'
import { placed } from './placed.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const START_MS_MAX = 60_000

const programs = () => debianPrograms('prometheus', ['prometheus', 'promtool'])

/** Runs promtool in the root of the checkout. @throws Error with its findings */
export async function promtool(...args: readonly string[]): Promise<void> {
  const { folder, env } = await programs()
  await promisify(execFile)(join(folder, 'promtool'), args, { cwd: ROOT, env })
}

export interface Prometheus {
  /** Calls Prometheus's HTTP API and returns the `data` of the response. */
  ask<T>(path: string): Promise<T>
}

/**
 * Starts Prometheus with the configuration in ops/ until the test ends, with these addresses
 * (`host:port`) in place of the example's. It scrapes four times a second.
 */
export async function startPrometheus(
  t: TestContext,
  targets: { gateway: string; engines: readonly string[] },
): Promise<Prometheus> {
  const { folder: programFolder, env } = await programs()
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'))
  const config = await placed('ops/prometheus.yml', {
    '127.0.0.1:9080': targets.gateway,
    '127.0.0.1:9081': targets.engines.join(`', '`),
    '15s': '250ms',
    'alerts.yml': join(ROOT, 'ops/alerts.yml'),
  })
  await writeFile(join(folder, 'prometheus.yml'), config)
  const [port] = await freePorts(1)
  const server = spawn(
    join(programFolder, 'prometheus'),
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], env },
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
