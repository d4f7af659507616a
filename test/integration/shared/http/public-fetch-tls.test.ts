/**
 * Fetches over TLS from a server whose certificate is only trusted by a process configured for it.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { createPublicFetch } from '../../../../shared/http/public-fetch.ts'
import { isTlsFault } from '../../../../shared/http/public-route.ts'
import { probing } from '../../../support/http/probe.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const fixture = (name: string) => join(ROOT, 'test/fixtures/tls', name)

async function serveTls(t: TestContext): Promise<number> {
  const [key, cert] = await Promise.all([
    readFile(fixture('key.pem')),
    readFile(fixture('certificate.pem')),
  ])
  const server = createServer({ key, cert }, (_request, reply) => {
    reply.writeHead(200, { 'content-type': 'audio/wav', 'content-length': 4 }).end('RIFF')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** Probes each URL in a process that trusts the certificate; returns results or errors. */
async function probeTrusting(urls: string[]) {
  const script = `
    import { createPublicFetch } from ${JSON.stringify(join(ROOT, 'shared/http/public-fetch.ts'))}
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    import { probing } from ${JSON.stringify(join(ROOT, 'test/support/http/probe.ts'))}
    const probe = probing(createPublicFetch({ allowCidrs: ['127.0.0.0/8'], resolve }))
    const outcomes = await Promise.all(${JSON.stringify(urls)}.map((url) =>
      probe(url).catch(({ message, isTemporary }) => ({ message, isTemporary }))))
    console.log(JSON.stringify(outcomes))`
  const words = ['--import', 'tsx', '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, words, {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: fixture('certificate.pem') },
    cwd: ROOT,
  })
  return JSON.parse(stdout) as unknown[]
}

test('a certificate must be trusted and match the host', async (t) => {
  const port = await serveTls(t)
  const addressOf = (name: string) => `https://${name}.example.com:${port}/`
  const refusal = {
    message: 'audio_url could not be fetched: its TLS certificate or connection is not valid.',
    isTemporary: false,
  }
  const outcomes = await probeTrusting([addressOf('media'), addressOf('other')])
  assert.deepEqual(outcomes, [{ bytes: 4 }, refusal])
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const untrusting = probing(createPublicFetch({ allowCidrs: ['127.0.0.0/8'], resolve }))
  await assert.rejects(untrusting(addressOf('media')), refusal)
})

test("Node's errors about untrusted certificates are recognized", () => {
  const codes = [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'CERT_HAS_EXPIRED',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'EPROTO',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'CERT_SIGNATURE_FAILURE',
  ]
  for (const code of codes) assert.equal(isTlsFault({ code }), true, code)
  for (const code of ['ECONNRESET', 'ETIMEDOUT', 'ENOTFOUND', ''])
    assert.equal(isTlsFault({ code }), false, code)
})
