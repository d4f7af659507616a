/**
 * A compute worker whose model costs nothing: it returns the mixture as the target. A request then
 * costs only the path around the model.
 */

import { parentPort } from 'node:worker_threads'
import type {
  Command,
  DeviceState,
  FromWorker,
  Replies,
  ToWorker,
} from '../../engine/compute/compute-messages.ts'
import type { HeadResult, Lane, Model, ModelDescription } from '../../models/model.ts'
import { PLAIN_MODEL } from '../../test/support/models/plain-model.ts'

/** Like the built-in model's, so that chunks and batches have the same lengths. */
const DESCRIPTION: ModelDescription = {
  ...PLAIN_MODEL,
  name: 'free',
  summary: 'Passes the mixture through.',
  framesPerSecond: 31.25,
  overlapSecondsMax: { fast: 1, balanced: 2, quality: 2 },
  passes: { fast: 'none', balanced: 'none', quality: 'none' },
}

interface FreeLane extends Lane {
  channels: Float32Array[]
}

const FREE_MODEL: Model = {
  description: DESCRIPTION,
  warnings: [],
  open({ chunk: { channels, sampleRate } }, heads): FreeLane[] {
    const seconds = channels[0]!.length / sampleRate
    const frames = Math.ceil(seconds * DESCRIPTION.framesPerSecond)
    const all = heads.map((_, i) => i)
    return [{ heads: all, rows: 1, frames, steps: 1, stepsDone: 0, channels }]
  },
  step(lanes) {
    for (const lane of lanes) lane.stepsDone += 1
  },
  close(lane): HeadResult[] {
    const { heads, channels: target } = lane as FreeLane
    return heads.map(() => ({ target, score: 1 }))
  },
  discard: () => undefined,
}

/** Reports no device memory. */
const HELD: DeviceState = { graphs: 0, memoryBytes: 0, memoryPeakBytes: 0, residentBytes: 0 }

const lanes = new Map<number, Lane>()
let opened = 0

parentPort!.on('message', ({ call, ...command }: ToWorker) => {
  const startedAt = performance.now()
  const value = runCommand(command)
  const seconds = (performance.now() - startedAt) / 1_000
  const parts = Array.isArray(value) ? value : []
  const results = parts.filter((part): part is HeadResult => 'target' in part)
  const audio = results.flatMap(({ target }) => target)
  send(
    { call, seconds, held: HELD, value },
    audio.map(({ buffer }) => buffer as ArrayBuffer),
  )
})
send({
  ready: {
    models: [{ description: DESCRIPTION, framesFitting: null }],
    tagger: null,
    backend: 'none',
    device: 'cpu',
    warnings: [],
  },
  held: HELD,
})

function runCommand(command: Command): Replies[Command['type']] {
  switch (command.type) {
    case 'open': {
      return FREE_MODEL.open(command.request, command.heads).map((lane) => {
        lanes.set(++opened, lane)
        const { heads, rows, frames, steps } = lane
        return { lane: opened, heads, rows, frames, steps }
      })
    }
    case 'step':
      FREE_MODEL.step(command.lanes.map((id) => lanes.get(id)!))
      return null
    case 'close': {
      const lane = lanes.get(command.lane)!
      lanes.delete(command.lane)
      return FREE_MODEL.close(lane)
    }
    case 'discard':
      lanes.delete(command.lane)
      return null
    case 'beat':
      return null
    case 'load':
      throw new Error('no model is installed')
  }
}

function send(message: FromWorker, transfer: ArrayBuffer[] = []): void {
  parentPort!.postMessage(message, transfer)
}
