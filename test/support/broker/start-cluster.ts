/** Starts three nats-servers as the cluster that ops/nats-cluster.conf describes. */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePorts } from '../processes/free-ports.ts'
import { placed } from '../machine/placed.ts'
import { takesConnections } from '../processes/takes-connections.ts'
import { TLS_FILES } from '../http/tls-files.ts'

const NAMES = ['one', 'two', 'three']
const PASSWORDS = { gateway: 'a-password-of-gateways', engine: 'a-password-of-engines' }
const BINARY = fileURLToPath(new URL('../../../.runtime/nats-server/nats-server', import.meta.url))
const START_MS_MAX = 15_000

export interface Cluster {
  /** All addresses, separated by commas, with the gateways' password. */
  url: string
  /** The same addresses with the engines' password. */
  engineUrl: string
  /** Certificate of the authority that signed the servers' certificates. */
  caFile: string
  /** Settings for gateways. */
  env: { NATS_URL: string; NATS_CA: string; NATS_REPLICAS: string }
  /** Settings in which engines differ from gateways. */
  engineEnv: { NATS_URL: string }
  /** Kills one server and starts it again once `meanwhile` has finished. */
  restart(index: number, meanwhile: () => Promise<unknown>): Promise<void>
}

export async function startCluster(t: TestContext): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-cluster-'))
  const ports = await freePorts(2 * NAMES.length)
  const [clientPorts, routePorts] = [ports.slice(0, NAMES.length), ports.slice(NAMES.length)]
  const start = async (index: number) => {
    const own = join(folder, NAMES[index]!)
    await mkdir(own, { recursive: true })
    const settings = await placed('ops/nats-cluster.conf', {
      'server_name: "one"': `server_name: "${NAMES[index]}"`,
      '"0.0.0.0:4222"': `"127.0.0.1:${clientPorts[index]}"`,
      '"0.0.0.0:6222"': `"127.0.0.1:${routePorts[index]}"`,
      '/var/lib/nats': own,
      '"GATEWAY_PASSWORD"': `"${PASSWORDS.gateway}"`,
      '"ENGINE_PASSWORD"': `"${PASSWORDS.engine}"`,
      '/etc/nats/certificate.pem': TLS_FILES.certificate,
      '/etc/nats/ca.pem': TLS_FILES.certificate,
      '/etc/nats/key.pem': TLS_FILES.key,
      ...Object.fromEntries(
        NAMES.map((name, i) => [`nats://${name}:6222`, `nats://localhost:${routePorts[i]}`]),
      ),
    })
    await writeFile(join(own, 'nats.conf'), settings)
    return startServer(own, clientPorts[index]!)
  }
  const servers = await Promise.all(NAMES.map((_name, index) => start(index)))
  t.after(async () => {
    for (const server of servers) server.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const urlOf = (user: keyof typeof PASSWORDS) =>
    clientPorts.map((port) => `tls://${user}:${PASSWORDS[user]}@localhost:${port}`).join(',')
  const url = urlOf('gateway')
  const caFile = TLS_FILES.certificate
  return {
    url,
    engineUrl: urlOf('engine'),
    caFile,
    env: { NATS_URL: url, NATS_CA: caFile, NATS_REPLICAS: '3' },
    engineEnv: { NATS_URL: urlOf('engine') },
    async restart(index, meanwhile) {
      const server = servers[index]!
      const exited = once(server, 'exit')
      server.kill('SIGKILL')
      await exited
      try {
        await meanwhile()
      } finally {
        servers[index] = await start(index)
      }
    },
  }
}

/** Resolves when the server accepts connections. */
async function startServer(folder: string, port: number): Promise<ChildProcess> {
  const log = join(folder, 'nats.log')
  const words = ['--config', join(folder, 'nats.conf'), '--log', log]
  const server = spawn(BINARY, words, { stdio: 'ignore' })
  const deadline = Date.now() + START_MS_MAX
  while (!(await takesConnections(port))) {
    if (server.exitCode !== null || Date.now() > deadline) {
      server.kill('SIGKILL')
      throw new Error(`nats-server did not start:\n${await readFile(log, 'utf8').catch(() => '')}`)
    }
    await sleep(20)
  }
  return server
}
