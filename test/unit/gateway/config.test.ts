import assert from 'node:assert/strict'
import test from 'node:test'
import { SettingsError } from '../../../shared/process/settings.ts'
import { loadConfig, portAfter } from '../../../gateway/config.ts'
import { localUrl } from '../../../shared/local-url.ts'

const NATS_URL = 'nats://127.0.0.1:4222'

test('a gateway only needs to know where its broker is, and its other ports follow the first', () => {
  assert.equal(loadConfig({ NATS_URL }).port, 8080)
  assert.deepEqual([portAfter(8080, 1), portAfter(8080, 1_000)], [8081, 9080])
  assert.deepEqual([portAfter(0, 1), portAfter(65_535, 1), portAfter(65_000, 1_000)], [0, 0, 0])
})

test('all invalid settings are named together, without showing secrets', () => {
  const env = {
    PORT: '70000',
    BOOTSTRAP_API_KEY: 'hunter2',
    PUBLIC_URL: 'ftp://x',
    LOG_LEVEL: 'loud',
  }
  assert.throws(
    () => loadConfig(env),
    (error: unknown) => {
      assert.ok(error instanceof SettingsError)
      for (const name of ['NATS_URL', ...Object.keys(env)])
        assert.match(error.message, RegExp(name))
      assert.ok(!error.message.includes('hunter2'))
      return true
    },
  )
})

test('networks may be separated by commas and spaces', () => {
  const networksOf = (env: object) => loadConfig({ NATS_URL, ...env }).egressAllowCidrs
  const EGRESS_ALLOW_CIDRS = '10.0.0.0/8, fd00::/8'
  assert.deepEqual(networksOf({ EGRESS_ALLOW_CIDRS }), ['10.0.0.0/8', 'fd00::/8'])
  assert.deepEqual(networksOf({}), [], 'none is open unless it is named')
})

test('origins of pages are listed in full, without a path', () => {
  const originsOf = (CORS_ORIGINS: string) => loadConfig({ NATS_URL, CORS_ORIGINS }).corsOrigins
  assert.deepEqual(originsOf(''), [])
  assert.deepEqual(originsOf('https://a.example, http://localhost:3000'), [
    'https://a.example',
    'http://localhost:3000',
  ])
  for (const wrong of ['*', 'https://a.example/', 'a.example', 'file://', 'https://*.a.example']) {
    assert.throws(() => originsOf(wrong), /CORS_ORIGINS must list origins such as/, wrong)
  }
})

test('a server that listens everywhere is reached on this machine', () => {
  assert.equal(localUrl('0.0.0.0', 80), 'http://127.0.0.1:80')
  assert.equal(localUrl('::', 80), 'http://127.0.0.1:80')
  assert.equal(localUrl('::1', 80), 'http://[::1]:80')
  assert.equal(localUrl('10.1.2.3', 8080), 'http://10.1.2.3:8080')
})

test('a sign-in provider needs a client, an owner and the admin token; without an issuer there is none', () => {
  assert.equal(loadConfig({ NATS_URL }).oidc, undefined)
  const OIDC_ISSUER = 'https://id.example.com/realms/a/'
  const problemsOf = (env: object): readonly string[] => {
    try {
      loadConfig({ NATS_URL, ...env })
    } catch (error) {
      return (error as SettingsError).problems
    }
    return []
  }
  assert.deepEqual(problemsOf({ OIDC_ISSUER }), [
    'ADMIN_TOKEN must be set',
    'OIDC_CLIENT_ID must be set',
    'OIDC_OWNERS must be set',
  ])
  const others = { ADMIN_TOKEN: 'a'.repeat(16), OIDC_CLIENT_ID: 'w', OIDC_OWNERS: 'Our Admins, b' }
  const { oidc } = loadConfig({ NATS_URL, OIDC_ISSUER, ...others })
  assert.equal(oidc?.issuer, OIDC_ISSUER, 'its final slash belongs to it')
  assert.equal(oidc?.providerName, 'id.example.com')
  assert.deepEqual(oidc?.valuesOf, { owner: ['Our Admins', 'b'], operator: [], viewer: [] })
  for (const issuer of ['http://id.example.com', 'id.example.com', 'https://id.example.com/?a=b']) {
    assert.match(
      problemsOf({ ...others, OIDC_ISSUER: issuer })[0]!,
      /^OIDC_ISSUER must be .* https:/,
    )
  }
  assert.deepEqual(problemsOf({ ...others, OIDC_ISSUER: 'http://127.0.0.1:9000' }), [])
  assert.deepEqual(problemsOf({ INTERNAL_TLS_CERT: 'a.pem' }), ['INTERNAL_TLS_KEY must be set'])
  assert.deepEqual(problemsOf({ ADMIN_PORT: '8090' }), ['ADMIN_TOKEN must be set'])
})
