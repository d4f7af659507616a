/**
 * The whole of Debian's package: it is built, checked by lintian, installed on a host with a real systemd,
 * used, upgraded, removed and purged. It takes minutes, so only `npm test -- test/package` runs it. With
 * WINNOW_TEST_COMPUTE=cuda it is the package for GPUs, which takes 20 GB of disk and half an hour.
 */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import test, { type TestContext } from 'node:test'
import { makePackage } from '../../scripts/tools/package/command.ts'
import { bootSystemd, whyNoSystemd, writeIn, type Host } from '../support/machine/boot-systemd.ts'
import { assertProgram } from '../support/machine/debian-package.ts'
import { examplePath, readWav16, SUM_ERROR_MAX, sumError } from '../support/media/examples.ts'
import { runCommand } from '../support/processes/run-command.ts'
import { readWav24 } from '../support/media/wav.ts'

/** A limit for the slowest machine: without it, waiting in vain would never fail the test. */
const MS_MAX = 3_600_000
const SERVICES = ['winnow-nats.service', 'winnow-gateway.service', 'winnow-engine@cpu.service']

async function makeDeb(t: TestContext): Promise<string> {
  const words = ['deb', '--compute', process.env.WINNOW_TEST_COMPUTE ?? 'cpu']
  const packed = await runCommand(makePackage, words)
  assert.equal(packed.code, 0, packed.errors)
  const path = packed.text.trim()
  t.diagnostic(`${path}: ${Math.round((await stat(path)).size / 1e6)} MB`)
  return path
}

async function separate({ run }: Host, prompt: string): Promise<void> {
  const key = (await run('cat', '/var/lib/winnow/api-key')).trim()
  await run('winnow', 'separate', '--force', '--key', key, '/tmp/mix.wav', prompt)
}

async function assertSum({ run }: Host, source: string): Promise<void> {
  const [target, residual] = await Promise.all(
    ['piano', 'rest.without-piano'].map(async (part) =>
      readWav24(Buffer.from(await run('base64', `/tmp/mix.${part}.wav`), 'base64')),
    ),
  )
  assert.ok(sumError(target!.planes, residual!.planes, await readWav16(source)) <= SUM_ERROR_MAX)
}

const stateOf = async ({ run }: Host, unit: string): Promise<string> =>
  (await run('systemctl', 'show', '--property=ActiveState', '--value', unit)).trim()

async function serviceStates(host: Host): Promise<string[]> {
  return Promise.all(SERVICES.map((unit) => stateOf(host, unit)))
}

const ACTIVE = ['active', 'active', 'active']
const isThere = ({ run }: Host, path: string): Promise<boolean> =>
  run('test', '-e', path).then(
    () => true,
    () => false,
  )

test(
  "Debian's package is built, installed, used, upgraded, removed and purged",
  { timeout: MS_MAX },
  async (t) => {
    assertProgram('lintian', 'lintian')
    const deb = await makeDeb(t)

    await t.test('lintian reports nothing', () => {
      const words = ['--fail-on', 'error,warning', '--allow-root', '--tag-display-limit', '0', deb]
      const { stdout, status } = spawnSync('lintian', words, {
        encoding: 'utf8',
        maxBuffer: 2 ** 26,
      })
      const reported = stdout.split('\n').filter((line) => /^[EW]:/.test(line))
      assert.deepEqual([reported.slice(0, 40), status], [[], 0])
    })

    const reason = whyNoSystemd()
    if (reason) return t.skip(reason)
    const host = await bootSystemd(t)
    const { run } = host
    const source = examplePath('speech-over-piano.wav')
    await writeIn(host, '/tmp/mix.wav', await readFile(source))
    const installed = `/opt/winnow/${deb}`

    await t.test(
      'installed without a network, it starts the chosen services and separates',
      async () => {
        await run('dpkg', '--install', installed)
        assert.match(await run('winnow', '--version'), /^\d+\.\d+\.\d+\n$/)
        await run('winnow', 'install-host', '--role', 'all', '--engine', 'cpu')
        await run('systemctl', 'start', 'winnow.target')
        assert.deepEqual(await serviceStates(host), ACTIVE)
        const node = await run(
          'sh',
          '-c',
          'readlink /proc/$(systemctl show -P MainPID winnow-gateway)/exe',
        )
        assert.equal(node.trim(), '/usr/lib/winnow/node/bin/node')
        const doctor = await run('sh', '-c', 'winnow doctor --role all --json || [ $? -eq 1 ]')
        assert.match(doctor, /"separation","severity":"fine"/)
        await separate(host, 'piano')
        await assertSum(host, source)
      },
    )

    await t.test('an upgrade keeps settings and restarts what was running', async () => {
      await writeIn(host, '/etc/winnow/winnow.env', 'LOG_LEVEL=warn\n')
      const secret = await run('cat', '/etc/winnow/credentials/gateway/NATS_URL')
      const before = await run('systemctl', 'show', '-P', 'MainPID', 'winnow-gateway')
      await run('dpkg', '--install', installed)
      assert.deepEqual(await serviceStates(host), ACTIVE)
      assert.notEqual(await run('systemctl', 'show', '-P', 'MainPID', 'winnow-gateway'), before)
      assert.equal(await run('cat', '/etc/winnow/winnow.env'), 'LOG_LEVEL=warn\n')
      assert.equal(await run('cat', '/etc/winnow/credentials/gateway/NATS_URL'), secret)
      await separate(host, 'speech')
    })

    await t.test('a removal stops the services, and leaves data and settings', async () => {
      await run('dpkg', '--remove', 'winnow')
      for (const unit of SERVICES) assert.match(await stateOf(host, unit), /^(inactive|failed)$/)
      assert.equal(await isThere(host, '/usr/lib/winnow'), false)
      for (const path of [
        '/var/lib/winnow/winnow.db',
        '/etc/winnow/winnow.env',
        '/etc/winnow/credentials',
      ]) {
        assert.ok(await isThere(host, path), path)
      }
    })

    await t.test('a purge leaves nothing', async () => {
      await run('dpkg', '--purge', 'winnow')
      for (const path of [
        '/var/lib/winnow',
        '/var/lib/winnow-nats',
        '/etc/winnow',
        '/var/cache/winnow-engine',
      ]) {
        assert.equal(await isThere(host, path), false, path)
      }
      const remaining = await run(
        'find',
        '/etc',
        '/usr',
        '/var',
        '-xdev',
        '-name',
        '*winnow*',
        '-not',
        '-path',
        '/var/log/*',
      )
      assert.deepEqual(
        remaining.split('\n').filter((path) => path && !path.includes('systemd/journal')),
        [],
      )
    })
  },
)
