/** Upgrades under load: gateway and engine restart. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import test from 'node:test'
import { bootSystemd, whyNoSystemd, writeIn } from '../support/machine/boot-systemd.ts'
import { followLoad } from '../support/processes/follow-load.ts'
import { noise } from '../support/media/signals.ts'
import { wavBytes } from '../support/media/wav.ts'

/** So that what never comes fails the test, on the slowest machine. */
const MS_MAX = 900_000

test(
  'gateway and engine restart while requests come, and none fails',
  { timeout: MS_MAX },
  async (t) => {
    const reason = whyNoSystemd()
    if (reason) return t.skip(reason)
    const host = await bootSystemd(t)
    const { run, enter } = host
    const engines = ['--engine', 'one', '--engine', 'two']
    await run(
      'node',
      'scripts/run.mjs',
      'scripts/cli/main.ts',
      'install-host',
      '--role',
      'all',
      ...engines,
    )
    await writeIn(host, '/etc/winnow/winnow.env', 'EGRESS_ALLOW_CIDRS=127.0.0.0/8\nJOBS_MAX=4\n')
    await run('systemctl', 'start', 'winnow.target')
    await writeIn(host, '/tmp/short.wav', wavBytes([noise(0.2, 8_000)], 8_000))
    const key = (await run('cat', '/var/lib/winnow/api-key')).trim()
    const [command = '', ...words] = enter
    const load = spawn(
      command,
      [
        ...[...words, 'node', '--import', 'tsx', 'test/support/processes/steady-load.ts'],
        ...['http://127.0.0.1:8080', key, '/tmp/short.wav'],
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    )
    t.after(() => load.kill('SIGKILL'))
    const { submitMore, finish } = await followLoad(load)
    await submitMore(20) // some are under way
    await Promise.all([
      run('systemctl', 'restart', 'winnow-gateway'),
      run('systemctl', 'restart', 'winnow-engine@one'), // the other one goes on
    ])
    const report = await finish()
    t.diagnostic(JSON.stringify(report))
    assert.deepEqual(report.failures, [])
    assert.ok(report.submitted > 40, `${report.submitted} requests`)
    assert.equal(report.completed, report.submitted)
    assert.equal(report.webhooks, report.submitted)
  },
)
