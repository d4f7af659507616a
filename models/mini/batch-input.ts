/** Flattens the inputs of a batch's lanes into the lists that `loadBatch` takes. */
import { rowsOf, type BatchPlan, type GroupLanes } from './batch-plan.ts'
import { layOut } from './lane-bucket.ts'
import type { MiniLane } from './mini-lane.ts'

type Members = readonly GroupLanes<MiniLane>[]

/** The samples of the mixtures, padded to their buckets. */
export function samplesOf({ groups }: BatchPlan, members: Members): Float32Array {
  const sizes = groups.map(({ mixtures, channels, length }) => mixtures * channels * length)
  const samples = new Float32Array(sumOf(sizes))
  let start = 0
  for (const [i, { mixtures }] of members.entries()) {
    const { length } = groups[i]!
    for (const { channels, pass } of mixtures) {
      for (const wave of channels) {
        layOut(wave, pass, samples.subarray(start, start + length))
        start += length
      }
    }
  }
  return samples
}

/**
 * The numbers of samples and frames and, for each row, the mask of its tokens, its prompt and
 * spans.
 */
export function factsOf({ tokens }: BatchPlan, members: Members): Float32Array {
  const mixtures = members.flatMap((group) => group.mixtures)
  const lanes = members.flatMap((group) => group.lanes)
  const dim = lanes[0]!.embedding.length
  const [rowsIn, rows] = [mixtures, lanes].map((each) => sumOf(each.map(rowsOf)))
  const facts = new Float32Array(
    2 * mixtures.length + rowsIn! * tokens + rows! * (dim + 2 * tokens),
  )
  let start = 0
  const next = (size: number) => facts.subarray(start, (start += size))
  for (const { pass } of mixtures) next(2).set([pass.samples, pass.frames])
  for (const mixture of mixtures) {
    for (let row = 0; row < rowsOf(mixture); row += 1) next(tokens).fill(1, 0, mixture.pass.tokens)
  }
  const forRows = (size: number, numbersOf: (lane: MiniLane) => Float32Array) => {
    for (const lane of lanes) {
      const numbers = numbersOf(lane)
      for (let row = 0; row < lane.rows; row += 1) next(size).set(numbers)
    }
  }
  forRows(dim, ({ embedding }) => embedding)
  forRows(2 * tokens, (lane) => lane.spanTokens())
  return facts
}

const sumOf = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0)
