/** How the units are installed on a host, and whether systemd itself accepts them. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { apply } from '../../../../scripts/cli/install-host/apply.ts'
import { planPackage } from '../../../../scripts/cli/install-host/plan.ts'
import { hindranceOf, installHost } from '../../../../scripts/cli/install-host/command.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { assertProgram } from '../../../support/machine/debian-package.ts'
import { runCommand } from '../../../support/processes/run-command.ts'

const CHECKOUT = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '')
const UNITS = 'etc/systemd/system'

before(() => assertProgram('systemd-analyze', 'systemd'))

/** Replaces this checkout and this Node, which the services may not be allowed to read. */
const installed = { checkout: '/usr', node: '/bin/sh' }

const run = (words: string[], env: Record<string, string> = {}) =>
  runCommand(installHost, words, { env, installed })

async function install(root: string, words: string[], env?: Record<string, string>) {
  const result = await run([...words, '--root', root], env)
  assert.equal(result.code, 0, result.errors)
  return result.text
}

const files = async (root: string) => (await readdir(root, { recursive: true })).map(String).sort()
const read = (root: string, path: string) => readFile(join(root, path), 'utf8')
/** Reads the broker's address in the credentials of a service. */
const brokerOf = async (root: string, service: string) =>
  (await read(root, `etc/winnow/credentials/${service}/NATS_URL`)).trim()

test('systemd finds nothing wrong with the installed units', async (t) => {
  const root = temporaryFolder(t)
  await install(root, ['--role', 'all', '--engine', '0'])
  const units = (await readdir(join(root, UNITS))).filter((name) =>
    /\.(service|socket|target)$/.test(name),
  )
  assert.equal(units.length, 6)
  const nats = join(root, UNITS, 'winnow-nats.service') // the nats-server that it names does not exist here
  await writeFile(
    nats,
    (await readFile(nats, 'utf8')).replace(/^ExecStart=\S+/m, 'ExecStart=/bin/sh'),
  )
  const paths = units.map((unit) => join(root, UNITS, unit.replace('@.', '@0.')))
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], {
    encoding: 'utf8',
  })
  assert.equal(stdout + stderr, '')
})

for (const [unit, exposureMax] of [
  ['winnow-gateway.service', 1.5],
  ['winnow-engine@.service', 2],
  ['winnow-nats.service', 1.5],
] as const) {
  test(`the exposure of ${unit} is at most ${exposureMax}`, (t) => {
    const threshold = `--threshold=${exposureMax * 10}`
    const path = join(CHECKOUT, 'scripts/cli/install-host/units', unit)
    const { status, stdout, stderr } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=yes', '--no-pager', threshold, path],
      { encoding: 'utf8' },
    )
    assert.equal(status, 0, stdout + stderr)
    t.diagnostic(/exposure level[^:]*: [\d.]+/.exec(stdout)?.[0] ?? '')
  })
}

test('a dry run shows every step and changes nothing', async (t) => {
  const root = temporaryFolder(t)
  const text = await install(root, ['--role', 'all', '--engine', 'cpu', '--dry-run'])
  assert.match(text, /would write \/etc\/systemd\/system\/winnow-gateway\.service \(0644\)/)
  assert.match(text, /would write \/etc\/winnow\/credentials\/gateway\/NATS_URL \(0600\)/)
  assert.match(text, /would run .* enable .*winnow-engine@cpu\.service/)
  assert.deepEqual(await readdir(root), [])
})

test('an installation has users, units for this checkout, and secrets that only root can read', async (t) => {
  const root = temporaryFolder(t)
  await install(root, ['--role', 'all', '--engine', '0', '--engine', 'GPU-5e2c7a31'])
  const unit = await read(root, `${UNITS}/winnow-engine@.service`)
  assert.match(
    unit,
    new RegExp(`^ExecStart=${installed.node} scripts\\/run\\.mjs engine/main\\.ts$`, 'm'),
  )
  assert.match(unit, new RegExp(`^WorkingDirectory=${installed.checkout}$`, 'm'))
  const passwd = await read(root, 'etc/passwd')
  for (const user of ['winnow', 'winnow-engine', 'winnow-nats'])
    assert.match(passwd, new RegExp(`^${user}:`, 'm'))
  assert.deepEqual((await readdir(join(root, UNITS, 'winnow.target.wants'))).sort(), [
    'winnow-engine@0.service',
    'winnow-engine@GPU-5e2c7a31.service',
    'winnow-gateway-grpc.socket',
    'winnow-gateway.service',
    'winnow-gateway.socket',
    'winnow-nats.service',
  ])
  const mode = async (path: string) => (await stat(join(root, path))).mode & 0o777
  assert.equal(await mode('etc/winnow/credentials'), 0o700)
  assert.equal(await mode('etc/winnow/nats.conf'), 0o600)
  const settings = await read(root, 'etc/winnow/nats.conf')
  for (const user of ['gateway', 'engine']) {
    const url = new URL(await brokerOf(root, user))
    assert.equal(url.username, user)
    assert.ok(url.password.length >= 32)
    assert.ok(settings.includes(`user: "${user}", password: "${url.password}"`))
  }
})

test("a second installation changes nothing, whatever its role, and keeps the admin's changes", async (t) => {
  const root = temporaryFolder(t)
  await install(root, ['--role', 'gateway'])
  await writeFile(join(root, 'etc/winnow/winnow.env'), 'LOG_LEVEL=debug\n')
  const url = await brokerOf(root, 'gateway')
  await install(root, ['--role', 'all', '--engine', 'cpu'])
  const all = await files(root)
  const ofEngine = await brokerOf(root, 'engine')
  const [, password] =
    /user: "engine", password: "([^"]+)"/.exec(await read(root, 'etc/winnow/nats.conf')) ?? []
  assert.equal(ofEngine, `nats://engine:${password}@127.0.0.1:4222`)
  const text = await install(root, ['--role', 'all', '--engine', 'cpu'])
  assert.doesNotMatch(text, /writes|makes/)
  assert.deepEqual(await files(root), all)
  assert.equal(await read(root, 'etc/winnow/winnow.env'), 'LOG_LEVEL=debug\n')
  assert.equal(await brokerOf(root, 'gateway'), url)
})

test('with a broker elsewhere none is installed', async (t) => {
  const root = temporaryFolder(t)
  const engine = ['--role', 'engine', '--engine', '0']
  const refused = await run([...engine, '--root', root])
  assert.equal(refused.code, 1)
  assert.match(refused.errors, /^Where is the broker\? Set NATS_URL/)
  await install(root, engine, { NATS_URL: 'nats://token@broker:4222' })
  assert.equal(await brokerOf(root, 'engine'), 'nats://token@broker:4222')
  await install(root, engine) // already stored
  await install(root, ['--role', 'all', '--engine', '0'], { NATS_URL: 'nats://token@other:4222' })
  for (const service of ['engine', 'gateway']) {
    assert.equal(await brokerOf(root, service), 'nats://token@other:4222')
  }
  assert.ok(!existsSync(join(root, UNITS, 'winnow-nats.service')))
  assert.ok(!existsSync(join(root, 'etc/winnow/nats.conf')))
})

test('--uninstall removes units and links, and leaves settings and data', async (t) => {
  const root = temporaryFolder(t)
  await install(root, ['--role', 'all', '--engine', '0'])
  await install(root, ['--uninstall', '--dry-run'])
  assert.ok(existsSync(join(root, UNITS, 'winnow.target')))
  await install(root, ['--uninstall'])
  const left = (await files(join(root, 'etc'))).filter((path) => path.includes('winnow'))
  assert.deepEqual(left, [
    'winnow',
    'winnow/credentials',
    'winnow/credentials/engine',
    'winnow/credentials/engine/NATS_URL',
    'winnow/credentials/gateway',
    'winnow/credentials/gateway/NATS_URL',
    'winnow/nats.conf',
    'winnow/winnow.env',
  ])
  assert.match(await install(root, ['--uninstall']), /not installed here/)
})

test('--uninstall names only the units of the role that is installed', async (t) => {
  const root = temporaryFolder(t)
  const env = { NATS_URL: 'nats://token@broker:4222' }
  for (const [words, units] of [
    [['--role', 'engine', '--engine', '0'], 'winnow.target winnow-engine@0.service'],
    [
      ['--role', 'gateway'],
      'winnow.target winnow-gateway.service winnow-gateway.socket winnow-gateway-grpc.socket',
    ],
  ] as const) {
    await install(root, [...words], env)
    const text = await install(root, ['--uninstall'])
    assert.equal(/^runs .* disable (.*)$/m.exec(text)?.[1], units)
  }
})

test('a wrong command line is refused with what would be right', async () => {
  for (const [words, message] of [
    [[], /--role must be one of gateway, engine, all/],
    [['--role', 'broker'], /--role takes gateway, engine or all, not "broker"/],
    [
      ['--role', 'engine', '--engine', 'a b'],
      /--engine must be a GPU's number or UUID, or cpu, not "a b"/,
    ],
    [['--rolle', 'all'], /--rolle/],
  ] as const) {
    const { code, errors } = await run([...words])
    assert.equal(code, 2)
    assert.match(errors, message)
  }
})

test('with the Debian package its units are enabled, and none is written or removed', async (t) => {
  const root = temporaryFolder(t)
  const unit = (name: string) =>
    readFileSync(join(CHECKOUT, 'scripts/cli/install-host/units', name), 'utf8')
  const place = { root, dryRun: false, say: () => undefined }
  apply(planPackage({ checkout: '/usr/lib/winnow', node: '/usr/lib/winnow/node', unit }), place)
  const packaged = await files(root)
  const env = { WINNOW_PACKAGED: 'winnow' }

  await install(root, ['--role', 'all', '--engine', 'cpu'], env)
  const added = (await files(root)).filter((path) => !packaged.includes(path))
  assert.ok(added.includes('etc/winnow/credentials/engine/NATS_URL'))
  const enabled = added.filter((path) => /\.(service|socket|target)$/.test(path))
  assert.ok(enabled.includes(`${UNITS}/winnow.target.wants/winnow-engine@cpu.service`))
  assert.deepEqual(
    enabled.filter((path) => !path.includes('.wants/')),
    [],
  )

  const own = `${UNITS}/winnow-nats.service` // changed by the admin with systemctl edit --full
  await writeFile(join(root, own), unit('winnow-nats.service'))
  assert.equal((await run(['--uninstall', '--root', root], env)).code, 0)
  const left = await files(root)
  assert.ok(left.includes(own))
  assert.deepEqual(
    packaged.filter((path) => !left.includes(path)),
    [],
  )
  assert.deepEqual(
    left.filter((path) => path.includes('.wants/')),
    [],
  )
})

test("the reason why services can't see a checkout is given", () => {
  assert.equal(hindranceOf(installed), undefined)
  const reason = hindranceOf({ ...installed, checkout: '/tmp/winnow' })
  assert.match(reason ?? '', /^\/tmp is hidden from the services\. Move the checkout/)
})
