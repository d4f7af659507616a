/**
 * `npm run campaign`: real processes, clients and faults by a seed (docs/reliability.md). Prints its
 * progress, then a summary as JSON; ends with 1 when the promise was broken.
 */

import { parseArgs } from 'node:util'
import { runCampaign } from '../test/campaign/run.ts'
import { createScope } from '../test/support/scope.ts'
import { newSeed } from '../test/simulation/report.ts'

const USAGE = `usage: npm run campaign -- [--faults N] [--seed N] [--database sqlite|postgres] [--gateways N]`

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '100' },
    seed: { type: 'string' },
    database: { type: 'string', default: 'sqlite' },
    gateways: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
})
const seed = values.seed === undefined ? newSeed() : Number(values.seed)
const [faults, gateways] = [Number(values.faults), Number(values.gateways)]
const { database } = values
const isNumber = (value: number, least: number) => Number.isSafeInteger(value) && value >= least
const isRight =
  isNumber(seed, 0) &&
  isNumber(faults, 1) &&
  isNumber(gateways, 1) &&
  (database === 'postgres' || (database === 'sqlite' && gateways === 1))
if (values.help || !isRight) {
  console.log(`${USAGE}\n\nSeveral gateways need PostgreSQL.`)
  process.exit(values.help ? 0 : 2)
}
console.log(`seed ${seed}`)
const isTerminal = process.stdout.isTTY
const scope = createScope()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void scope.end().finally(() => process.exit(1)))
}
const summary = await runCampaign(scope, {
  seed,
  faults,
  gateways,
  database: database as 'sqlite' | 'postgres',
  onProgress: (line) => process.stdout.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`),
})
await scope.end()
console.log(`${isTerminal ? '\n' : ''}${JSON.stringify(summary, null, 2)}`)
process.exit(summary.violations.length > 0 ? 1 : 0)
