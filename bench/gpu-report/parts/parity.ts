/**
 * Compares the port with the reference on this host, by stage, with the tensors of `winnow parity`.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { processIo } from '../../../scripts/cli/command.ts'
import { parity } from '../../../test/support/parity/command.ts'
import type { Comparison } from '../../../test/support/parity/comparison.ts'
import type { Run } from '../options.ts'

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures', import.meta.url))
const MODELS = ['sam-audio', 'htdemucs', 'audiosep', 'roformer']

type Line = Comparison & { stage: string }

export const compareWithReference: Run = async function* (_, hasTime) {
  for (const model of MODELS) {
    if (!hasTime()) break
    const lines = await linesOf(model)
    for (const stage of new Set(lines.map((line) => line.stage))) {
      const ofStage = lines.filter((line) => line.stage === stage)
      const worst = ofStage.reduce((a, b) => (b.error * a.allowed > a.error * b.allowed ? b : a))
      yield {
        model,
        stage,
        tensors: ofStage.length,
        'beyond what is allowed': ofStage.filter(({ error, allowed }) => error > allowed).length,
        'worst of all': worst.name,
        difference: worst.error.toExponential(1),
        allowed: worst.allowed.toExponential(1),
      }
    }
  }
}

async function linesOf(model: string): Promise<Line[]> {
  let text = ''
  const stdout = { write: (more: string) => void (text += more) }
  const stderr = { write: () => undefined }
  await parity([join(FIXTURES, model), '--json'], { ...processIo(), stdout, stderr })
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
}
