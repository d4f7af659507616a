/**
 * A host set up by `install-host`, under a real systemd, from the first start to the stop. On the way a
 * compute thread hangs, and an engine drains.
 */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Finding } from '../../scripts/cli/doctor/finding.ts'
import { bootSystemd, whyNoSystemd, writeIn, type Host } from '../support/machine/boot-systemd.ts'
import { examplePath, readWav16, SUM_ERROR_MAX, sumError } from '../support/media/examples.ts'
import { noise } from '../support/media/signals.ts'
import { readWav24, wavBytes } from '../support/media/wav.ts'

const ENGINE = 'winnow-engine@cpu.service'
const GATEWAY = 'winnow-gateway.service'
const SERVICES = ['winnow-nats.service', GATEWAY, ENGINE]
const SETTINGS = 'DRAIN_SECONDS=600\n'
const SETTINGS_OF_SEVERAL = `GATEWAYS=2
SIGNING_KEY_FILE=/var/lib/winnow/signing-key
ENCRYPTION_KEY_FILE=/var/lib/winnow/encryption-key
`
/** Shorter than in the unit, whose limits suit the longest step of any model. */
const TEST_LIMITS = '[Service]\nWatchdogSec=20\nTimeoutStopSec=1\n'

/** A limit for the slowest machine: without it, waiting in vain would never fail the test. */
const MS_MAX = 900_000

async function untilTrue(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await sleep(200)
}

const GET_METRICS =
  "fetch('http://127.0.0.1:9080/metrics').then(async (reply) => console.log(await reply.text()))"

const isSeparating = async ({ run }: Host): Promise<boolean> =>
  /^winnow_requests\{status="IN_PROGRESS"\} 1$/m.test(await run('node', '-e', GET_METRICS))

const read = async ({ run }: Host, path: string): Promise<Buffer> =>
  Buffer.from(await run('base64', path), 'base64')

async function separate({ run, winnow }: Host, path: string, prompt: string): Promise<void> {
  const key = await run('cat', '/var/lib/winnow/api-key')
  await winnow('separate', '--key', key.trim(), path, prompt)
}

const property = async ({ run }: Host, unit: string, name: string): Promise<string> =>
  (await run('systemctl', 'show', '--property', name, '--value', unit)).trim()

interface Entry {
  MESSAGE: string
  _SYSTEMD_UNIT: string
  WINNOW_REQUEST_ID?: string
}

const journal = async ({ run }: Host, ...matches: string[]): Promise<Entry[]> =>
  (await run('journalctl', '--output=json', ...matches))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Entry)

const POSTGRES = `
import { writeFileSync } from 'node:fs'
import { startPostgres } from './test/support/database/start-postgres.ts'
writeFileSync('/tmp/postgres', (await startPostgres()).urlOf('postgres'))
setInterval(() => undefined, 2 ** 30)`

/** Starts a PostgreSQL on the host; returns its URL. */
async function startPostgresIn({ run }: Host): Promise<string> {
  const script = ['node', '--import', 'tsx', '--input-type=module', '--eval', POSTGRES]
  await run('systemd-run', '--unit=postgres', '--working-directory=/opt/winnow', ...script)
  const readUrl = () => run('cat', '/tmp/postgres').catch(() => '')
  await untilTrue(async () => (await readUrl()) !== '')
  return readUrl()
}

/** Returns the processes that the gateway's main process has started. */
const gatewayProcesses = async (host: Host): Promise<string[]> =>
  (await host.run('pgrep', '-P', await property(host, GATEWAY, 'MainPID'))).trim().split('\n')

test(
  'a host under systemd: start, separate, watchdog, drain, stop',
  { timeout: MS_MAX },
  async (t) => {
    const reason = whyNoSystemd()
    if (reason) return t.skip(reason)
    const host = await bootSystemd(t)
    const { run, winnow } = host
    assert.equal((await run('stat', '-f', '-c', '%T', '/tmp')).trim(), 'tmpfs')

    await t.test('the services that install-host installed start and become ready', async () => {
      await winnow('install-host', '--role', 'all', '--engine', 'cpu')
      await writeIn(host, '/etc/winnow/winnow.env', SETTINGS)
      await writeIn(host, `/etc/systemd/system/${ENGINE}.d/test.conf`, TEST_LIMITS)
      await run('systemctl', 'daemon-reload')
      await run('systemctl', 'start', 'winnow.target')
      for (const unit of SERVICES)
        assert.equal(await property(host, unit, 'ActiveState'), 'active', unit)
      assert.match(
        await property(host, ENGINE, 'StatusText'),
        /^READY: (spleeter, )?mini on cpu, 0 of \d+ jobs in flight$/,
      )
      assert.match(
        await property(host, GATEWAY, 'StatusText'),
        /^serving at http:\/\/127\.0\.0\.1:8080/,
      )
      assert.equal(await property(host, ENGINE, 'User'), 'winnow-engine')
    })

    await t.test('a request is separated', async () => {
      const path = examplePath('speech-over-piano.wav')
      await writeIn(host, '/tmp/mix.wav', await readFile(path))
      await separate(host, '/tmp/mix.wav', 'piano')
      const [target, residual] = await Promise.all(
        ['piano', 'rest.without-piano'].map(async (part) =>
          readWav24(await read(host, `/tmp/mix.${part}.wav`)),
        ),
      )
      assert.ok(sumError(target!.planes, residual!.planes, await readWav16(path)) <= SUM_ERROR_MAX)
    })

    await t.test(
      'the journal finds the lines of a request, from both gateway and engine',
      async () => {
        const [ended] = (await journal(host, '-u', ENGINE)).filter(({ MESSAGE }) =>
          MESSAGE.includes('a job has ended'),
        )
        const lines = await journal(host, `WINNOW_REQUEST_ID=${ended?.WINNOW_REQUEST_ID}`)
        const units = new Set(lines.map((line) => line._SYSTEMD_UNIT))
        assert.deepEqual([...units].sort(), [ENGINE, GATEWAY])
      },
    )

    await t.test('doctor finds nothing missing with the settings of the installation', async () => {
      const outside = 'http://127.0.0.1:9080/metrics'
      const text = await winnow('doctor', '--json', '--egress', outside)
      const { findings } = JSON.parse(text) as { findings: Finding[] }
      const found = (name: string) => findings.find((each) => each.name === name)?.found
      assert.match(found('gateway') ?? '', /ready, engines: 1/)
      assert.match(found('database') ?? '', /^\/var\/lib\/winnow\/winnow\.db takes writes/)
    })

    await t.test(
      'the watchdog ends an engine whose compute thread hangs, and it restarts',
      async () => {
        const pid = await property(host, ENGINE, 'MainPID')
        await run('python3', 'test/support/processes/stop_thread.py', pid, 'winnow-compute') // ends with the thread
        await untilTrue(async () => (await property(host, ENGINE, 'NRestarts')) === '1')
        await untilTrue(async () => (await property(host, ENGINE, 'ActiveState')) === 'active')
        assert.notEqual(await property(host, ENGINE, 'MainPID'), pid)
        const [failure] = await journal(host, `UNIT=${ENGINE}`, 'UNIT_RESULT=watchdog')
        assert.match(failure?.MESSAGE ?? '', /Failed with result 'watchdog'/)
        await separate(host, '/tmp/mix.wav', 'speech')
      },
    )

    await t.test(
      'a stop lets the job in flight finish, even beyond the time limit of systemd',
      async () => {
        await writeIn(host, '/tmp/long.wav', wavBytes([noise(600, 16_000)], 16_000))
        const separated = separate(host, '/tmp/long.wav', 'noise')
        await Promise.race([untilTrue(() => isSeparating(host)), separated])
        await run('systemctl', 'stop', ENGINE)
        await separated
        const drained = (await journal(host, '-u', ENGINE)).filter(({ MESSAGE }) =>
          MESSAGE.includes('"drained its jobs"'),
        )
        assert.deepEqual(
          drained.map(({ MESSAGE }) => (JSON.parse(MESSAGE) as { finished: number }).finished),
          [1],
        )
        assert.equal(await property(host, ENGINE, 'Result'), 'success')
      },
    )

    await t.test(
      'GATEWAYS=2 is refused with SQLite, and a killed gateway process is replaced',
      async () => {
        await run('systemctl', 'start', ENGINE)
        await writeIn(host, '/etc/winnow/winnow.env', SETTINGS + SETTINGS_OF_SEVERAL)
        await assert.rejects(run('systemctl', 'restart', GATEWAY))
        await run('systemctl', 'stop', GATEWAY)
        const lines = await journal(host, '-u', GATEWAY)
        assert.ok(lines.some(({ MESSAGE }) => MESSAGE.includes('2 processes need a PostgreSQL')))
        const url = await startPostgresIn(host)
        const copy = ['scripts/cli/main.ts', 'database', 'copy', '--from']
        const file = 'sqlite:/var/lib/winnow/winnow.db'
        await run('env', `DATABASE_URL=${url}`, 'node', 'scripts/run.mjs', ...copy, file)
        await writeIn(host, '/etc/winnow/credentials/gateway/DATABASE_URL', url)
        await run('systemctl', 'start', GATEWAY)
        assert.match(await property(host, GATEWAY, 'StatusText'), /8080 by 2 processes$/)
        const [killed = ''] = await gatewayProcesses(host)
        await run('kill', '-KILL', killed)
        await untilTrue(async () => {
          const processes = await gatewayProcesses(host)
          return processes.length === 2 && !processes.includes(killed)
        })
        await separate(host, '/tmp/mix.wav', 'music')
        assert.equal(await property(host, GATEWAY, 'NRestarts'), '0')
      },
    )

    await t.test('the target stops everything gracefully', async () => {
      await run('systemctl', 'stop', 'winnow.target')
      for (const unit of SERVICES) {
        await untilTrue(async () => !/^(de)?activ/.test(await property(host, unit, 'ActiveState')))
        assert.equal(await property(host, unit, 'Result'), 'success', unit)
      }
    })
  },
)
