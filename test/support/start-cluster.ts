/** Three nats-servers that form a cluster, for the time of a test. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startNatsServer, type NatsServer } from '../../scripts/nats-server.ts'
import { freePorts } from './free-ports.ts'

const SERVERS = 3
const TOKEN = 'a-token-for-tests-only'

export interface Cluster {
  /** The addresses of all, separated by commas. */
  url: string
  /** Kills one of them, and starts it again after `meanwhile`. */
  restart(index: number, meanwhile: () => Promise<unknown>): Promise<void>
}

export async function startCluster(t: TestContext): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-cluster-'))
  const ports = await freePorts(2 * SERVERS)
  const [clientPorts, routePorts] = [ports.slice(0, SERVERS), ports.slice(SERVERS)]
  const routes = routePorts.map((port) => `"nats://127.0.0.1:${port}"`).join(', ')
  const start = (index: number) =>
    startNatsServer({
      folder: join(folder, String(index)),
      port: clientPorts[index]!,
      token: TOKEN,
      settings: [
        `server_name: "s${index}"`,
        `cluster { name: "c", listen: "127.0.0.1:${routePorts[index]}", routes: [${routes}] }`,
      ],
    })
  const servers: NatsServer[] = await Promise.all([0, 1, 2].map(start))
  t.after(async () => {
    for (const server of servers) server.process.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return {
    url: clientPorts.map((port) => `nats://${TOKEN}@127.0.0.1:${port}`).join(','),
    async restart(index, meanwhile) {
      const { process } = servers[index]!
      const gone = new Promise((resolve) => process.once('exit', resolve))
      process.kill('SIGKILL')
      await gone
      try {
        await meanwhile()
      } finally {
        servers[index] = await start(index)
      }
    },
  }
}
