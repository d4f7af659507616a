/** Clips of all lengths come in few shapes, so that they run as graphs and memory stays level. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WARM_UP_CALLS } from '../../models/graph/compiled.ts'
import { loadMini } from '../../models/mini/mini.ts'
import { roomFor } from '../../models/mini/network/network.ts'
import { deviceKind, native, type Stored } from '../../models/tensor.ts'
import { TEXT_ENCODER_FOLDER } from './golden.ts'
import { laneRequest, noise, separateOne } from './lanes.ts'

const mini = await loadMini({ textEncoderFolder: TEXT_ENCODER_FOLDER })
const SAMPLE_RATE = 16_000

/** What the native library answers to such calls while `work` runs. */
function answersTo(name: 'runSavedModel' | 'executeOp', work: () => void): Stored[][] {
  const { binding } = native
  const answers: Stored[][] = []
  const call = binding[name] as (...words: unknown[]) => Stored[]
  const keep = (...words: unknown[]) => {
    const answer = call.apply(binding, words)
    answers.push(answer)
    return answer
  }
  native.binding = Object.create(binding, { [name]: { value: keep } })
  try {
    work()
  } finally {
    native.binding = binding
  }
  return answers
}

test('short clips of as many lengths as there are calls reach graphs', () => {
  const graphs = answersTo('runSavedModel', () => {
    for (let i = 0; i < WARM_UP_CALLS; i += 1) {
      const channels = [noise(SAMPLE_RATE / 4 + 600 * i, i + 1)]
      separateOne(mini, laneRequest({ channels, sampleRate: SAMPLE_RATE }))
    }
  })
  assert.equal(graphs.length, deviceKind() === 'gpu' ? 0 : 2) // of what is heard, and answered
})

test('there are few rooms, each as long as what it is for', () => {
  const tokens = Array.from({ length: 384 }, (_, i) => i + 1)
  const rooms = tokens.map(roomFor)
  assert(rooms.every((room, i) => room >= tokens[i]!))
  assert.equal(new Set(rooms).size, 12)
})

test('prompts of all lengths are heard in few shapes', () => {
  const prompts = Array.from({ length: 14 }, (_, i) => `rain${' again'.repeat(i)}`)
  const answers = answersTo('executeOp', () => {
    for (const prompt of prompts) {
      const channels = [noise(100, 1)]
      mini.discard(mini.open(laneRequest({ channels, sampleRate: SAMPLE_RATE }, prompt)))
    }
  })
  const attention = answers.flat().filter(({ shape: [, , query, key] }) => key && query === key)
  const lengths = new Set(attention.map(({ shape }) => shape[3]))
  assert.deepEqual([...lengths], [16])
})
