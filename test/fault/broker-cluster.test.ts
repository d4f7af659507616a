/** A broker of three servers loses each of them in turn; a single broker loses everything it stores. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream'
import { connect, errors, type NatsConnection } from '@nats-io/transport-node'
import { examplePath } from '../support/media/examples.ts'
import { startCluster, type Cluster } from '../support/broker/start-cluster.ts'
import {
  followToEnd,
  startWinnow,
  submitFile,
  type Winnow,
} from '../support/processes/start-winnow.ts'

const submit = (winnow: Winnow) =>
  submitFile(winnow, examplePath('speech-over-piano.wav'), { prompt: 'piano' })

const finalStatus = async (winnow: Winnow, request: Awaited<ReturnType<typeof submit>>) =>
  (await followToEnd(winnow, request)).at(-1)?.status

const separate = async (winnow: Winnow) => finalStatus(winnow, await submit(winnow))

test('requests complete while each of three broker servers is killed in turn', async (t) => {
  const cluster = await startCluster(t)
  const winnow = await startWinnow(t, { env: cluster.env, engineEnv: cluster.engineEnv })
  for (const index of [0, 1, 2]) {
    await cluster.restart(index, async () => {
      const statuses = await Promise.all([separate(winnow), separate(winnow)])
      assert.deepEqual(statuses, ['COMPLETED', 'COMPLETED'], `without server ${index}`)
    })
    await untilInSync(cluster)
  }
})

/** Resolves when every server has a full copy of every stream, so that the next one may be killed. */
async function untilInSync({ url, caFile }: Cluster): Promise<void> {
  const servers = url.split(',').map((server) => new URL(server))
  const connection = await connect({
    servers: servers.map(({ host }) => host),
    user: servers[0]!.username,
    pass: servers[0]!.password,
    tls: { caFile },
  })
  try {
    while (!(await isInSync(connection))) await new Promise((resolve) => setTimeout(resolve, 100))
  } finally {
    await connection.close()
  }
}

/**
 * Returns whether both followers of every stream are up to date. While the servers elect leaders,
 * JetStream times out or answers that it is unavailable; that counts as not up to date.
 */
async function isInSync(connection: NatsConnection): Promise<boolean> {
  try {
    const manager = await jetstreamManager(connection)
    for await (const { config, cluster } of manager.streams.list()) {
      assert.equal(config.num_replicas, 3, config.name)
      if (cluster?.replicas?.filter(({ current }) => current).length !== 2) return false
    }
    return true
  } catch (error) {
    if (error instanceof errors.TimeoutError || error instanceof JetStreamApiError) return false
    throw error
  }
}

test('a single broker', async (t) => {
  const winnow = await startWinnow(t, { env: { JOBS_MAX: '1' } })

  await t.test('requests in flight complete although it loses everything it stores', async () => {
    const submitted = await Promise.all(Array.from({ length: 4 }, () => submit(winnow)))
    const ends = submitted.map((request) => finalStatus(winnow, request))
    await Promise.race(ends)
    await killNats(winnow)
    await rm(join(winnow.folder, 'nats/store'), { recursive: true })
    await winnow.startNats()
    assert.deepEqual(await Promise.all(ends), Array(4).fill('COMPLETED'))
  })

  await t.test('a gateway that starts while it is down accepts requests', async () => {
    await winnow.gateway.end('SIGTERM')
    await killNats(winnow)
    await winnow.startGateway()
    const readiness = async () => {
      const response = await fetch(`${winnow.url}/readyz`)
      const { broker } = (await response.json()) as { broker: boolean }
      return { status: response.status, broker }
    }
    assert.deepEqual(await readiness(), { status: 503, broker: false })
    const submitted = await submit(winnow)
    await winnow.startNats()
    assert.equal(await finalStatus(winnow, submitted), 'COMPLETED')
    assert.deepEqual(await readiness(), { status: 200, broker: true })
  })

  await t.test('a gateway whose token it refuses exits', async () => {
    await winnow.gateway.end('SIGTERM')
    await killNats(winnow)
    const { host } = new URL(winnow.nats.url)
    const gateway = await winnow.startGateway({ NATS_URL: `nats://a-wrong-token@${host}` })
    const ended = once(gateway.child, 'exit')
    await winnow.startNats()
    assert.deepEqual(await ended, [1, null])
    assert.match(gateway.log(), /"level":60,.*NATS_URL: the broker at .* refuses the credentials/)
    assert.doesNotMatch(gateway.log(), /a-wrong-token|\n\s+at /)
  })
})

async function killNats({ nats }: Winnow): Promise<void> {
  const gone = once(nats.process, 'exit')
  nats.process.kill('SIGKILL')
  await gone
}
