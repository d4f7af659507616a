/** An upgrade under load: gateway and engine restart. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import test from 'node:test'
import { bootSystemd, whyNoSystemd, writeIn } from '../support/machine/boot-systemd.ts'
import { followLoad } from '../support/processes/follow-load.ts'
import { noise } from '../support/media/signals.ts'
import { wavBytes } from '../support/media/wav.ts'

/** A limit for the slowest machine: without it, waiting in vain would never fail the test. */
const MS_MAX = 900_000

test(
  'no request fails while the gateway and an engine restart under load',
  { timeout: MS_MAX },
  async (t) => {
    const reason = whyNoSystemd()
    if (reason) return t.skip(reason)
    const host = await bootSystemd(t)
    const { run, winnow, enter } = host
    await winnow('install-host', '--role', 'all', '--engine', 'one', '--engine', 'two')
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
    await submitMore(20) // some are in progress by then
    await Promise.all([
      run('systemctl', 'restart', 'winnow-gateway'),
      run('systemctl', 'restart', 'winnow-engine@one'), // engine "two" keeps running
    ])
    const report = await finish()
    t.diagnostic(JSON.stringify(report))
    assert.deepEqual(report.failures, [])
    assert.ok(report.submitted > 40, `${report.submitted} requests`)
    assert.equal(report.completed, report.submitted)
    assert.equal(report.webhooks, report.submitted)
  },
)
