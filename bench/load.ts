/**
 * Question: how does a service answer under load? Requests arrive at random times, independent of
 * the earlier ones, and each is timed from when it was due.
 *
 *   npm run bench -- load --rate 5 --minutes 2 --mix 4s:4,30s:4,180s:1
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readOwnArgv, TEXT } from '../scripts/cli/command.ts'
import { openLoop } from './load/drive.ts'
import { DEFAULT_MIX, parseMix, poissonArrivals } from './load/mix.ts'
import { load1, startOwnService, type OwnService } from './load/own-service.ts'
import { seededRandom } from '../test/support/basics/random.ts'
import { summarise } from './load/summary.ts'
import { prepareRequests } from './load/winnow-requests.ts'
import { machine, report } from './report.ts'
import { isSaturated } from './statistics/saturation.ts'

const HELP = `Usage: npm run bench -- load [options]

  --rate N         requests a second, on average (default 1)
  --minutes N      for which they arrive (default 1)
  --mix PARTS      lengths of media and how often each comes (default ${DEFAULT_MIX})
  --url URL        a service (or WINNOW_URL); without one, one is started for the time
  --key KEY        its API key (or WINNOW_API_KEY)
  --drain SECONDS  after which what is still under way is canceled (default 60)
  --in-flight N    the most requests under way; further ones count as NOT_SENT (default 2000)
  --seed N         of the arrivals (default 1)
  --out FOLDER     where load.json goes (default the current folder)
`

const { values } = readOwnArgv(
  {
    rate: { ...TEXT, default: '1' },
    minutes: { ...TEXT, default: '1' },
    mix: { ...TEXT, default: DEFAULT_MIX },
    url: TEXT,
    key: TEXT,
    drain: { ...TEXT, default: '60' },
    'in-flight': { ...TEXT, default: '2000' },
    seed: { ...TEXT, default: '1' },
    out: { ...TEXT, default: '.' },
  },
  HELP,
)

const mix = parseMix(values.mix)
const rate = positive('rate')
const seconds = 60 * positive('minutes')
const url = values.url ?? process.env.WINNOW_URL
const own: OwnService | null = url ? null : await startOwnService()
try {
  const apiKey = own?.apiKey ?? values.key ?? process.env.WINNOW_API_KEY
  const send = await prepareRequests({ url: url ?? own!.winnow.url, apiKey }, mix)
  const arrivals = poissonArrivals(mix, rate, seconds, seededRandom(positive('seed')))
  const outcomes = await openLoop(arrivals, send, {
    drainMs: 1_000 * positive('drain'),
    inFlightMax: positive('in-flight'),
    onProgress: printProgress,
  })
  const summary = summarise(outcomes)
  const saturated = isSaturated(outcomes, 1_000 * seconds)
  await mkdir(values.out, { recursive: true })
  const parameters = { rate, seconds, mix: values.mix, seed: positive('seed'), machine: machine() }
  const json = JSON.stringify({ ...parameters, saturated, ...summary, outcomes }, null, 1)
  await writeFile(join(values.out, 'load.json'), json)
  report('how does the service answer under load?', {
    ...parameters,
    load1: load1(),
    saturated,
    ...summary,
  })
} finally {
  await own?.end()
}

function positive(name: 'rate' | 'minutes' | 'drain' | 'in-flight' | 'seed'): number {
  const value = Number(values[name])
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0, not ${values[name]}`)
  return value
}

function printProgress(now: { ms: number; sent: number; inFlight: number; ended: number }): void {
  if (!process.stderr.isTTY) return
  const left = Math.max(0, Math.round(seconds - now.ms / 1_000))
  const counts = `${now.sent} sent, ${now.inFlight} under way, ${now.ended} ended`
  process.stderr.write(`\r${counts}, ${left} s left   `)
}
