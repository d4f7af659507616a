import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PassLane, type PassLanePlan } from '../../../../models/lanes/pass-lane.ts'

/**
 * Opens a lane of a network that takes six stereo samples and whose two stems make up the target.
 */
function laneOf(channels: number[][], more: Partial<PassLanePlan<null>>, levels?: object[]) {
  const chunk = {
    channels: channels.map((wave) => Float32Array.from(wave)),
    sampleRate: 10,
    ...(levels && { levels: levels as { mean: number; deviation: number }[] }),
  }
  return new PassLane<null>({
    request: { chunk, spans: [], acceleration: 'fast' },
    heads: [0],
    passes: [{ network: null, outputs: [[0, 1]] }],
    width: 2,
    samples: 6,
    frames: 1,
    shortAt: 'start',
    ...more,
  })
}

const inputOf = (lane: PassLane<null>) => [...lane.input().dataSync<'float32'>()]

test('a short chunk is mirrored if more than half is there, and otherwise followed by silence', () => {
  const mirrorsShort = { mirrorsShort: true }
  const long = laneOf([[1, 2, 3, 4]], mirrorsShort)
  assert.deepEqual(inputOf(long), [1, 2, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2])
  const short = laneOf([[1, 2, 3]], mirrorsShort)
  assert.deepEqual(inputOf(short), [1, 2, 3, 0, 0, 0, 1, 2, 3, 0, 0, 0])
  assert.deepEqual(inputOf(laneOf([[1, 2, 3, 4]], {})).slice(0, 6), [1, 2, 3, 4, 0, 0])
})

test("a chunk is normalized by its mixture's level, or else its own, and each stem gets the mean back", () => {
  const wave = [1, 2, 3, 6]
  const lane = laneOf([wave], { isLevelled: true }, [{ mean: 1, deviation: 2 }])
  assert.deepEqual(inputOf(lane).slice(0, 6), [0, 0.5, 1, 2.5, 0, 0])
  const outputs = [0, 1].flatMap((stem) =>
    [1, 2].flatMap(() => [0, 1, 2, 3, 4, 5].map((x) => x + stem)),
  )
  lane.advance(Float32Array.from(outputs), [0, 1])
  assert.deepEqual([...lane.targets()[0]![0]!], [4, 8, 12, 16]) // 2 · (i + i + 1) + 2 · 1
  const own = inputOf(laneOf([wave], { isLevelled: true })).slice(0, 4)
  assert.ok(Math.abs(own.reduce((sum, x) => sum + x, 0)) < 1e-6)
  assert.ok(Math.abs(own.reduce((sum, x) => sum + x * x, 0) / 4 - 1) < 1e-6)
})

test('every stem of a silent mixture is silent', () => {
  const lane = laneOf([[0, 0, 0]], { isLevelled: true })
  assert.deepEqual(inputOf(lane), Array(12).fill(0))
  lane.advance(new Float32Array(24).fill(9), [0, 1])
  assert.deepEqual([...lane.targets()[0]![0]!], [0, 0, 0])
})
