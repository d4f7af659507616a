/**
 * Nearly every call of the built-in model runs as a graph: a simulation with the policy of batches,
 * the lengths of chunks, the rooms of lanes and the cache of graphs as they are.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../bench/load/random.ts'
import { nextBatch, type WaitingLane } from '../../../../engine/compute/batch-policy.ts'
import { chunkCount, planChunks } from '../../../../engine/job/chunks.ts'
import { GraphCache } from '../../../../models/graph/graph-cache.ts'
import { PATCH } from '../../../../models/mini/config.ts'
import { groupsAlike, LANES_ALIKE } from '../../../../models/mini/lanes-alike.ts'
import { hopAt, roomOf, type LaneRoom } from '../../../../models/mini/lane-room.ts'

const SAMPLE_RATE = 44_100
const STEPS = 4_000
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
  samples: number
  chunksLeft: number
  chunksOpen: number
}

interface Lane extends WaitingLane {
  job: Job
  room: LaneRoom
  likeness: string
}

interface Load {
  name: string
  jobs: number
  /** Seconds of a job, from a number in [0, 1). */
  secondsOf(draw: number): number
}

const pick = (draw: number) => [4, 4, 4, 4, 30, 30, 30, 30, 180][Math.floor(9 * draw)]!
const LOADS: Load[] = [
  { name: 'a mix of 4, 30 and 180 s, 8 jobs', jobs: 8, secondsOf: pick },
  { name: 'the same, 32 jobs', jobs: 32, secondsOf: pick },
  { name: 'any lengths up to a minute, 32 jobs', jobs: 32, secondsOf: (draw) => 0.1 + 60 * draw },
]

/** Shares of calls that run as graphs: of the network's two parts, and of the lanes' two. */
function shares(
  { jobs, secondsOf }: Load,
  { framesMax, alike }: Device,
): { network: number; lanes: number } {
  const random = seededRandom(1)
  const graphs = new GraphCache<true>()
  const counts = { network: [0, 0], lanes: [0, 0] }
  const run = (part: keyof typeof counts, name: string) => {
    counts[part][0]! += 1
    if (graphs.graphFor(name, () => true)) counts[part][1]! += 1
  }
  const waiting = new Map<number, Lane>()
  const requests = new Map<string, number>()
  let [opened, started] = [0, 0]
  const openChunks = (job: Job) => {
    for (; job.chunksOpen < CHUNKS_IN_FLIGHT && job.chunksLeft > 0; job.chunksLeft -= 1) {
      const samples = Math.min(job.samples, plan.chunkSamples)
      const room = roomOf(samples, [hopAt(SAMPLE_RATE)], 0)
      const { framing, tokens: frames } = room.passes[0]!
      const likeness = JSON.stringify([framing, room.lead, room.length, room.targetSamples])
      const { requestId } = job
      const id = (opened += 1)
      const owner = { accountId: ACCOUNT, requestId, model: 'mini' }
      waiting.set(id, { id, ...owner, rows: 1, frames, job, room, likeness })
      job.chunksOpen += 1
    }
  }
  const startJob = () => {
    const samples = Math.round(SAMPLE_RATE * secondsOf(random()))
    const requestId = `request-${(started += 1)}`
    openChunks({ requestId, samples, chunksLeft: chunkCount(samples, plan), chunksOpen: 0 })
  }
  for (let i = 0; i < jobs; i += 1) startJob()
  const served = { accounts: new Map<string, number>(), requests }
  for (let step = 0; step < STEPS; step += 1) {
    const limits = { framesMax, secondsPerFrame: 1e-3 }
    const batch = nextBatch([...waiting.values()], served, () => limits) as Lane[]
    const tokens = Math.max(...batch.map(({ room }) => room.passes[0]!.framing.frames / PATCH))
    for (const group of groupsAlike(batch, alike)) {
      const shape = `${group.length} ${group[0]!.likeness}`
      for (const part of ['input', 'target']) run('lanes', `${part} ${shape}`)
    }
    for (const part of ['encode', 'decode']) run('network', `${part} ${batch.length} ${tokens}`)
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
  const shareOf = ([all, asGraphs]: number[]) => asGraphs! / all!
  return { network: shareOf(counts.network), lanes: shareOf(counts.lanes) }
}

interface Device {
  /** The most that `auto` takes. */
  framesMax: number
  /** Lanes that share a graph. */
  alike: number
}

const DEVICES: Readonly<Record<string, Device>> = {
  GPU: { framesMax: 65_536, alike: LANES_ALIKE },
  processor: { framesMax: 1_024, alike: 1 },
}

for (const load of LOADS) {
  test(`at least 98 in 100 calls run as graphs: ${load.name}`, (context) => {
    for (const [name, device] of Object.entries(DEVICES)) {
      const { network, lanes } = shares(load, device)
      context.diagnostic(`${name}: ${network.toFixed(4)}, ${lanes.toFixed(4)}`)
      assert.ok(network >= 0.98, `network: ${network}`)
      assert.ok(lanes >= 0.98, `lanes: ${lanes}`)
    }
  })
}
