/**
 * Simulates the real batching policy, chunk lengths, batch plans and graph cache, to check that
 * nearly every call of the built-in model runs as a graph.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../support/basics/random.ts'
import { nextBatch, type WaitingLane } from '../../../../engine/compute/batch-policy.ts'
import { chunkCount, planChunks } from '../../../../engine/job/chunks.ts'
import { GraphCache } from '../../../../models/graph/graph-cache.ts'
import {
  planBatch,
  rowsOf,
  type BatchPlan,
  type PlannedLane,
} from '../../../../models/mini/batch-plan.ts'
import { hopAt, passOf } from '../../../../models/mini/lane-bucket.ts'

const SAMPLE_RATE = 44_100
const STEPS = 2_000
const CHUNKS_IN_FLIGHT = 2
const ACCOUNT = 'account'
const plan = planChunks({
  sampleRate: SAMPLE_RATE,
  channels: 1,
  chunkSecondsMax: 10,
  overlapSeconds: 1,
  modelChunkSecondsMax: 10,
  modelOverlapSecondsMax: 1,
  frameSamples: 1,
})

interface Job {
  requestId: string
  views: PlannedLane['views']
  samples: number
  chunksLeft: number
  chunksOpen: number
}

interface Lane extends WaitingLane, PlannedLane {
  job: Job
}

interface Load {
  name: string
  jobs: number
  /** Length of a job, from a random number in [0, 1). */
  secondsOf(draw: number): number
  /** Views of the channels that the network reads, for the jobs in turn. */
  views: readonly PlannedLane['views'][]
}

const pick = (draw: number) => [4, 4, 4, 4, 30, 30, 30, 30, 180][Math.floor(9 * draw)]!
const any = (draw: number) => 0.1 + 60 * draw
const MONO = [null]
const MIXED = [null, ['middle'], ['middle', 'side']] as const
const LOADS: Load[] = [
  { name: 'a mix of 4, 30 and 180 s, 8 jobs', jobs: 8, secondsOf: pick, views: MONO },
  { name: 'any lengths, of one channel and of two', jobs: 32, secondsOf: any, views: MIXED },
]

/**
 * Returns the share of calls that run as graphs. On a GPU, a batch of lanes of one shape is one
 * call; otherwise, each of its parts is.
 */
function shareOfGraphs({ jobs, secondsOf, views }: Load, { framesMax, together }: Device): number {
  const random = seededRandom(1)
  const graphs = new GraphCache<true>()
  const isGraph = (name: string): boolean => graphs.graphFor(name, () => true) !== null
  const found: boolean[] = []
  const waiting = new Map<number, Lane>()
  const requests = new Map<string, number>()
  let [opened, started] = [0, 0]
  const openChunks = (job: Job) => {
    for (; job.chunksOpen < CHUNKS_IN_FLIGHT && job.chunksLeft > 0; job.chunksLeft -= 1) {
      const samples = Math.min(job.samples, plan.chunkSamples)
      const pass = passOf(samples, hopAt(SAMPLE_RATE), 0)
      const { requestId, views: own } = job
      const rows = own?.length ?? 1
      const id = (opened += 1)
      const owner = { accountId: ACCOUNT, requestId, model: 'mini' }
      const channels = [new Float32Array(0)]
      const lane = { id, ...owner, rows, frames: pass.tokens, job, channels, views: own, pass }
      waiting.set(id, lane)
      job.chunksOpen += 1
    }
  }
  const startJob = () => {
    const samples = Math.round(SAMPLE_RATE * secondsOf(random()))
    const requestId = `request-${(started += 1)}`
    const chunksLeft = chunkCount(samples, plan)
    const own = views[started % views.length]!
    openChunks({ requestId, views: own, samples, chunksLeft, chunksOpen: 0 })
  }
  for (let i = 0; i < jobs; i += 1) startJob()
  const served = { accounts: new Map<string, number>(), requests }
  for (let step = 0; step < STEPS; step += 1) {
    const limits = { framesMax, secondsPerFrame: 1e-3 }
    const batch = nextBatch([...waiting.values()], served, () => limits) as Lane[]
    const { plan } = planBatch(batch, together)
    const isAlike = together && plan.groups.length === 1
    const asOne = isAlike && isGraph(JSON.stringify(plan))
    const parts = asOne ? [] : partsOf(plan).map(isGraph)
    found.push(...(isAlike ? [asOne] : parts))
    for (const { id, job, frames } of batch) {
      waiting.delete(id)
      requests.set(job.requestId, (requests.get(job.requestId) ?? 0) + 1e-3 * frames)
      job.chunksOpen -= 1
      if (job.chunksLeft > 0) openChunks(job)
      else if (job.chunksOpen === 0) {
        requests.delete(job.requestId)
        startJob()
      }
    }
  }
  return found.filter(Boolean).length / found.length
}

/**
 * Describes each call of a batch computed in parts; calls with equal descriptions can share a
 * graph.
 */
function partsOf({ groups, tokens }: BatchPlan): string[] {
  const rows = groups.reduce((sum, group) => sum + group.mixtures * rowsOf(group), 0)
  const calls = (part: string) =>
    groups.map(({ mixtures, framing, views }) => JSON.stringify([part, mixtures, framing, views]))
  return [
    ...calls('input'),
    ...calls('target'),
    `encode ${rows} ${tokens}`,
    `decode ${rows} ${tokens}`,
  ]
}

interface Device {
  /** The largest batch budget that `auto` chooses. */
  framesMax: number
  /** Whether a batch is one graph. */
  together: boolean
}

const DEVICES: Readonly<Record<string, Device>> = {
  GPU: { framesMax: 65_536, together: true },
  CPU: { framesMax: 1_024, together: false },
}

for (const load of LOADS) {
  test(`at least 98 in 100 calls run as graphs: ${load.name}`, (context) => {
    for (const [name, device] of Object.entries(DEVICES)) {
      const share = shareOfGraphs(load, device)
      context.diagnostic(`${name}: ${share.toFixed(4)}`)
      assert.ok(share >= 0.98, `${name}: ${share}`)
    }
  })
}
