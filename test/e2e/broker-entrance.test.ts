/** Connects to a broker that somebody else runs: over TLS, with credentials, as part of a cluster. */

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startNatsServer, type NatsServerOptions } from '../../scripts/cli/start/nats-server.ts'
import { connectBroker } from '../../shared/broker/broker.ts'
import type { BrokerAddress } from '../../shared/broker/connection.ts'
import { createLogger } from '../../shared/telemetry/log.ts'
import { makeNatsCredentials } from '../support/broker/nats-credentials.ts'

const log = createLogger('test', 'silent')
const fixture = (name: string) =>
  fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url))
const certificate = fixture('localhost')
const tls = (name: string) =>
  `tls { cert_file: "${fixture(name)}", key_file: "${fixture('localhost-key')}" }`

async function start(t: TestContext, options: Omit<NatsServerOptions, 'folder'>) {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-nats-'))
  const { url, process } = await startNatsServer({ folder, ...options })
  t.after(async () => {
    process.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return { url, folder }
}

async function connected(address: BrokerAddress): Promise<boolean> {
  const broker = await connectBroker({ address, name: 'x', leaseSeconds: 30, log, waitMsMax: 300 })
  const isConnected = broker.isConnected()
  await broker.close()
  return isConnected
}

test('a broker with TLS is trusted with NATS_CA, and not without it', async (t) => {
  const { url } = await start(t, { settings: [tls('localhost')] })
  const { port, username } = new URL(url)
  const local = `nats://${username}@localhost:${port}`
  assert.ok(await connected({ url: local, caFile: certificate }))
  await assert.rejects(connected({ url: local }), {
    name: 'StartError',
    message: /^NATS_CA: the certificate of the broker at localhost:\d+ cannot be trusted \(/,
  })
  await assert.rejects(connected({ url: local, caFile: '/nowhere.pem' }), {
    name: 'StartError',
    message: /^NATS_CA: \/nowhere\.pem cannot be read \(/,
  })
})

test('an expired certificate is reported as expired', async (t) => {
  const { url } = await start(t, { settings: [tls('expired')] })
  const address = { url: url.replace('127.0.0.1', 'localhost'), caFile: fixture('expired') }
  await assert.rejects(connected(address), {
    name: 'StartError',
    message: /^NATS_CA: .* \(certificate has expired\)\. .* renew those that have expired\.$/,
  })
})

test('tls:// demands TLS of a broker that has none', async (t) => {
  const { url } = await start(t, {})
  await assert.rejects(connected({ url: url.replace('nats:', 'tls:') }), { name: 'StartError' })
})

test('NATS_CREDS logs in a user of a NATS operator, whom the broker otherwise refuses', async (t) => {
  const { settings, credentials } = makeNatsCredentials()
  const { url, folder } = await start(t, { token: null, settings })
  const credentialsFile = join(folder, 'user.creds')
  await writeFile(credentialsFile, credentials)
  assert.ok(await connected({ url, credentialsFile }))
  await assert.rejects(connected({ url }), {
    name: 'StartError',
    message: /^NATS_URL: the broker at .* refuses the credentials .* or the file in NATS_CREDS\.$/,
  })
})

test('three replicas on a single server are refused with what would be right', async (t) => {
  const { url } = await start(t, {})
  await assert.rejects(connected({ url, replicas: 3 }), {
    name: 'StartError',
    message: /^NATS_REPLICAS: .* cannot keep 3 copies of a stream\. Set NATS_REPLICAS to 1/,
  })
})
