/** How far the port is from the reference here: the tensors of `winnow parity`, by stage. */
import { fileURLToPath } from 'node:url'
import { parity } from '../../../cli/parity/command.ts'
import type { Comparison } from '../../../cli/parity/comparison.ts'
import type { Run } from '../options.ts'

const FIXTURES = fileURLToPath(new URL('../../../../test/fixtures/sam-audio', import.meta.url))

type Line = Comparison & { stage: string }

export const compareWithReference: Run = async () => {
  let text = ''
  const stdout = { write: (more: string) => void (text += more) }
  await parity([FIXTURES, '--json'], { stdout, stderr: { write: () => undefined } })
  const lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
  const stages = [...new Set(lines.map(({ stage }) => stage))]
  return {
    rows: stages.map((stage) => {
      const own = lines.filter((line) => line.stage === stage)
      const worst = own.reduce((a, b) => (b.error * a.allowed > a.error * b.allowed ? b : a))
      return {
        stage,
        tensors: own.length,
        'beyond what is allowed': own.filter(({ error, allowed }) => error > allowed).length,
        'worst of all': worst.name,
        difference: worst.error.toExponential(1),
        allowed: worst.allowed.toExponential(1),
      }
    }),
  }
}
