/**
 * `winnow campaign`: runs real processes, clients and seeded faults (docs/explain/reliability.md). Prints
 * its progress, then a summary as JSON; exits with 1 if the promise was broken.
 */

import { readOwnArgv, TEXT } from '../../scripts/cli/command.ts'
import { runCampaign } from './run.ts'
import { newSeed } from '../simulation/report.ts'
import { createScope } from '../support/processes/scope.ts'

const USAGE = `usage: npm run winnow -- campaign [--faults N | --minutes N] [--seed N]
         [--database sqlite|postgres] [--gateways N]

--faults   comes about every second; default 100
--minutes  instead: a fault a minute for so long
Several gateways need PostgreSQL. The same seed plans the same faults.`

const { values } = readOwnArgv(
  {
    faults: TEXT,
    minutes: TEXT,
    seed: TEXT,
    database: { ...TEXT, default: 'sqlite' },
    gateways: { ...TEXT, default: '1' },
  },
  USAGE,
)
const numberOf = (text: string) => (/^\d{1,10}$/.test(text) ? Number(text) : NaN)
const seed = values.seed === undefined ? newSeed() : numberOf(values.seed)
const faults = numberOf(values.minutes ?? values.faults ?? '100')
const gateways = numberOf(values.gateways)
const { database } = values
const isRight =
  seed >= 0 &&
  faults >= 1 &&
  gateways >= 1 &&
  (database === 'postgres' || (database === 'sqlite' && gateways === 1))
if (!isRight) {
  console.log(USAGE)
  process.exit(2)
}

const scope = createScope()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void scope.end().finally(() => process.exit(1)))
}
const isTerminal = process.stdout.isTTY
console.log(`seed ${seed}`)
const summary = await runCampaign(scope, {
  seed,
  faults,
  gateways,
  database: database as 'sqlite' | 'postgres',
  ...(values.minutes !== undefined && { everyMs: 60_000 }),
  onProgress: (line) => process.stdout.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`),
})
await scope.end()
console.log(`${isTerminal ? '\n' : ''}${JSON.stringify(summary, null, 2)}`)
process.exit(summary.violations.length > 0 ? 1 : 0)
