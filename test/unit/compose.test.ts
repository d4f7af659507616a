/**
 * Checks compose.yaml and ops/compose.postgres.yaml as text; test/package/compose.test.ts runs
 * them.
 */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { parse } from 'yaml'
import { loadConfig as loadEngineConfig } from '../../engine/config.ts'

interface Service {
  image: string
  environment?: Record<string, string>
  ports?: string[]
  volumes?: string[]
  restart: string
  stop_grace_period?: string
  cap_drop?: string[]
}

interface ComposeFile {
  services: Record<string, Service>
  volumes: Record<string, null>
}

const read = (path: string) => parse(readFileSync(path, 'utf8'), { merge: true }) as ComposeFile
const { services, volumes } = read('compose.yaml')
const postgres = read('ops/compose.postgres.yaml')

/** Returns the settings that a program reads, according to docs/reference/settings.md. */
const settingsOf = (reader: string): string[] =>
  [
    ...readFileSync('docs/reference/settings.md', 'utf8').matchAll(
      /^\| `(\w+)` \|.*\| ([^|]+) \|$/gm,
    ),
  ]
    .filter(([, , readers = '']) => readers.split(', ').includes(reader))
    .map(([, name = '']) => name)

test('every setting in a compose file is one that its service reads', () => {
  const known = { gateway: settingsOf('gateway'), engine: settingsOf('engine') }
  assert.ok(known.gateway.includes('PUBLIC_URL') && known.engine.includes('CONTROL_HOST'))
  const credentials = ['CREDENTIALS_DIRECTORY'] // read by both, in shared/process/credentials.ts
  for (const [service, reader] of [
    [services.gateway, 'gateway'],
    [services.engine, 'engine'],
    [services['engine-gpu'], 'engine'],
    [postgres.services.gateway, 'gateway'],
  ] as const) {
    const names = Object.keys(service?.environment ?? {})
    assert.ok(names.length > 0)
    const unknown = names.filter((name) => ![...known[reader], ...credentials].includes(name))
    assert.deepEqual(unknown, [])
  }
})

test('each of our services has this version, no privileges, and declared volumes', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  for (const [name, { image, cap_drop, ports = [], volumes: mounts = [] }] of Object.entries(
    services,
  )) {
    assert.equal(image, `winnow:${version}${name === 'engine-gpu' ? '-cuda' : ''}`)
    assert.deepEqual(cap_drop, ['ALL'])
    for (const port of ports) assert.match(port, /^127\.0\.0\.1:/, 'only this machine may reach it')
    for (const mount of mounts) assert.ok(mount.split(':')[0]! in volumes, mount)
  }
})

test('an engine has time to drain, and to stop after that', () => {
  const { drainSeconds } = loadEngineConfig({ NATS_URL: 'nats://127.0.0.1' })
  const stopSeconds = 30 // STOP_MS_MAX in engine/main.ts
  for (const name of ['engine', 'engine-gpu']) {
    const grace = Number(/^(\d+)s$/.exec(services[name]!.stop_grace_period!)![1])
    assert.ok(grace > drainSeconds + stopSeconds)
  }
})
