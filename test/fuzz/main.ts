/**
 * `winnow fuzz`: feeds damaged media files or checkpoints to their readers, or raw bytes to a gateway,
 * by a seed.
 */

import { readOwnArgv, TEXT } from '../../scripts/cli/command.ts'
import { fuzzCheckpoints } from './checkpoints.ts'
import { fuzzCrowds, type CrowdReport } from './crowds.ts'
import { fuzzGrpc } from './grpc.ts'
import { fuzzHttp } from './http.ts'
import { fuzzMedia } from './media.ts'
import type { FuzzOptions } from './result.ts'

const USAGE = `usage: npm run winnow -- fuzz media|checkpoints|http|grpc|crowds [--cases N] [--seed N]

media, checkpoints: changes files of every kind at random, and reads them as the service does.
http, grpc: sends raw bytes to a gateway, damaged, ambiguous, too long or too many.
crowds: N clients at once that are silent, slow or read nothing; others submit meanwhile, and how
  long that takes is printed. No seed.

Prints how the cases ended; ends with 1 and the case, as small as it can be made, when a process
crashes, takes too much or fails in a way that is no refusal. The same seed gives the same cases.`

const FUZZERS = {
  media: fuzzMedia,
  checkpoints: fuzzCheckpoints,
  http: fuzzHttp,
  grpc: fuzzGrpc,
  crowds: async ({ cases: clients }: FuzzOptions) => {
    const onCrowd = (report: CrowdReport) => console.log(JSON.stringify(report))
    await fuzzCrowds({ clients, submits: SUBMITS, onCrowd })
    return { clients }
  },
}
/** Submits by other clients during each crowd. */
const SUBMITS = 200

const { operands, values } = readOwnArgv({ cases: TEXT, seed: TEXT }, USAGE, ['TARGET'])
const cases = Number(values.cases ?? 10_000)
const seed = Number(values.seed ?? Date.now() % 2 ** 31)
const fuzz = FUZZERS[operands[0] as keyof typeof FUZZERS]
if (!fuzz || !Number.isInteger(cases) || cases < 1 || !Number.isInteger(seed)) {
  console.log(USAGE)
  process.exit(2)
}
const startedAt = performance.now()
console.log(`seed ${seed}`)
let done = 0
const result = await fuzz({
  cases,
  seed,
  onCase() {
    if (++done % 500 === 0) console.log(`${done} of ${cases}`)
  },
})
const seconds = Math.round((performance.now() - startedAt) / 1_000)
console.log(JSON.stringify({ ...result, seconds }))
