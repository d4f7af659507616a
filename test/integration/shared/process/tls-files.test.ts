/** TLS between the parts of the service, with certificates made by openssl. */

import assert from 'node:assert/strict'
import { request } from 'node:https'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { startControlServer, type ControlledEngine } from '../../../../engine/control-server.ts'
import { engineConnector } from '../../../../gateway/operations/engine-address.ts'
import { connectEngine } from '../../../../shared/engine-control.ts'
import { loadTls, type Tls } from '../../../../shared/process/tls-files.ts'
import { startMetricsServer } from '../../../../shared/telemetry/metrics-server.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { makeTls, tlsFilesOf } from '../../../support/http/make-tls.ts'

const folder = temporaryFolder({ after })

const ours = await makeTls(folder, 'ours')
const theirs = await makeTls(folder, 'theirs')

test('an engine only answers clients with a certificate of its authority', async (t) => {
  const engine = { setBatching: () => undefined } as unknown as ControlledEngine
  const server = await startControlServer('127.0.0.1', 0, engine, ours)
  t.after(() => server.stop())
  const port = server.address.split(':').at(-1)
  const gateway = await engineConnector(['127.0.0.0/8', '::1/128'], ours)(`localhost:${port}`)
  t.after(() => gateway.close())
  assert.equal(await gateway.setBatching(512), 512)
  for (const tls of [undefined, { ...ours, ca: theirs.ca! }, { ...theirs, ca: ours.ca! }]) {
    const other = connectEngine(server.address, { tls, name: 'localhost' })
    t.after(() => other.close())
    await assert.rejects(other.setBatching(512), /UNAVAILABLE|DEADLINE_EXCEEDED/)
  }
  const elsewhere = connectEngine(server.address, { tls: ours, name: 'engine.example.com' })
  t.after(() => elsewhere.close())
  await assert.rejects(elsewhere.setBatching(512), /UNAVAILABLE|DEADLINE_EXCEEDED/)
})

test('metrics are for clients with a certificate, or without an authority for anyone over TLS', async (t) => {
  const source = { text: async () => 'up 1\n', log: console as never }
  const get = (address: string, tls: Partial<Tls>) =>
    new Promise<string>((resolve, reject) => {
      const options = { ...tls, ca: ours.ca!, servername: 'localhost', agent: false }
      request(`${address}/metrics`, options, (reply) => {
        reply.setEncoding('utf8').once('data', resolve)
      })
        .on('error', reject)
        .end()
    })
  const server = await startMetricsServer('127.0.0.1', 0, { ...source, tls: ours })
  t.after(() => server.stop())
  assert.match(server.address, /^https:/)
  const { cert, key } = ours
  assert.equal(await get(server.address, { cert, key }), 'up 1\n')
  await assert.rejects(get(server.address, {}), /certificate required|ECONNRESET|socket hang up/)
  await assert.rejects(get(server.address, { cert: theirs.cert, key: theirs.key }))
  const open = await startMetricsServer('127.0.0.1', 0, { ...source, tls: { cert, key } })
  t.after(() => open.stop())
  assert.equal(await get(open.address, {}), 'up 1\n')
})

test('a file that is missing, or belongs to another key, is named at the start', async () => {
  const missing = loadTls({ ...tlsFilesOf(folder, 'ours'), caFile: join(folder, 'none.pem') })
  await assert.rejects(missing, /^StartError: INTERNAL_TLS_CA: ENOENT/)
  const mixed = loadTls({ ...tlsFilesOf(folder, 'ours'), keyFile: join(folder, 'theirs.key') })
  await assert.rejects(
    mixed,
    /^StartError: INTERNAL_TLS_CERT, INTERNAL_TLS_KEY: .*key values mismatch/,
  )
  const noCertificate = { certificateFile: undefined, keyFile: '', caFile: '/etc/ca.pem' }
  await assert.rejects(loadTls(noCertificate), /^StartError: INTERNAL_TLS_CERT must be set with/)
})
