import assert from 'node:assert/strict'
import test from 'node:test'
import type { TargetRecipe } from '../../../../../engine/job/outputs/competing-frame.ts'
import { TargetMixer } from '../../../../../engine/job/outputs/target-mixer.ts'
import { fc } from '../../../../support/basics/property.ts'
import { noise } from '../../../../support/media/signals.ts'

const SAMPLES = 12_345
const tone = (cyclesPerSample: number) =>
  Float32Array.from({ length: SAMPLES }, (_, i) => Math.sin(2 * Math.PI * cyclesPerSample * i) / 4)
const [low, high, hiss] = [tone(0.01), tone(0.2), noise(SAMPLES, 1, 3).map((x) => x / 5)]

const sum = (...waves: Float32Array[]) =>
  waves[0]!.map((_, i) => waves.reduce((total, wave) => total + wave[i]!, 0))
const minus = (whole: Float32Array, ...parts: Float32Array[]) =>
  whole.map((x, i) => parts.reduce((rest, part) => rest - part[i]!, x))
const dot = (a: Float32Array, b: Float32Array) => a.reduce((total, x, i) => total + x * b[i]!, 0)
const correlation = (a: Float32Array, b: Float32Array) =>
  dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))

/** Runs one channel through a mixer in blocks of the given lengths, repeating the last length. */
function runMixer(
  recipes: TargetRecipe[],
  { mixture, sounds }: { mixture: Float32Array; sounds: Float32Array[] },
  blocks = [4_000],
) {
  const mixer = new TargetMixer(recipes, sounds.length, 1)
  const parts: { mixture: Float32Array[]; targets: Float32Array[][] }[] = []
  for (let [i, start] = [0, 0]; start < mixture.length; i += 1) {
    const end = start + blocks[Math.min(i, blocks.length - 1)]!
    parts.push(
      mixer.add(
        [mixture.slice(start, end)],
        sounds.map((wave) => [wave.slice(start, end)]),
      ),
    )
    start = end
  }
  parts.push(mixer.finish())
  const joined = (of: (part: (typeof parts)[number]) => Float32Array) =>
    Float32Array.from(parts.flatMap((part) => [...of(part)]))
  return {
    mixture: joined((part) => part.mixture[0]!),
    targets: recipes.map((_, t) => joined((part) => part.targets[t]![0]!)),
  }
}

const only = (...wanted: number[]): TargetRecipe => ({ wanted, unwanted: [] })
const without = (...unwanted: number[]): TargetRecipe => ({ wanted: null, unwanted })

function assertNear(actual: Float32Array, expected: Float32Array, most = 1e-5): void {
  assert.equal(actual.length, expected.length)
  const worst = actual.reduce((max, x, i) => Math.max(max, Math.abs(x - expected[i]!)), 0)
  assert.ok(worst <= most, `differs by ${worst}`)
}

test('sounds that take no more than the mixture has stay as they are, however blocks are cut', () => {
  const mixture = sum(low, high, hiss)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1 }), (blocks) => {
      const sounds = [0.4, 0.5].map((share) => mixture.map((x) => share * x))
      const result = runMixer([only(0), only(1)], { mixture, sounds }, [...blocks, 3_000])
      assertNear(result.mixture, mixture, 0)
      for (const [t, target] of result.targets.entries()) assertNear(target, sounds[t]!)
    }),
    { numRuns: 20 },
  )
})

test('a sound that several prompts find is shared between them, and never inverted in the rest', () => {
  const mixture = sum(low, hiss)
  for (const count of [2, 4]) {
    const sounds = Array.from({ length: count }, () => low.slice())
    const recipes = sounds.map((_, i) => only(i))
    const { targets } = runMixer(recipes, { mixture, sounds })
    const rest = minus(mixture, ...targets)
    assert.ok(correlation(rest, low) >= -0.05, `${correlation(rest, low)}`)
    for (const target of targets) {
      const level = dot(target, low) / dot(low, low)
      assert.ok(Math.abs(level - 1 / count) < 0.05, `${level} of it in one of ${count}`)
    }
  }
})

test('what a sound has in common with another is shared, and what only one has stays whole', () => {
  const mixture = sum(low, high)
  const { targets } = runMixer([only(0), only(1)], { mixture, sounds: [sum(low, high), high] })
  const levels = (wave: Float32Array) => [low, high].map((of) => dot(wave, of) / dot(of, of))
  const [ofFirst, ofSecond] = targets.map(levels) as [number[], number[]]
  assert.ok(Math.abs(ofFirst[0]! - 1) < 0.02 && Math.abs(ofSecond[0]!) < 0.02)
  assert.ok(Math.abs(ofFirst[1]! + ofSecond[1]! - 1) < 0.02)
})

test('the sounds of one prompt are added, and a sound that is part of two counts once', () => {
  const mixture = sum(low, high, hiss)
  const { targets } = runMixer([only(0, 1, 2)], { mixture, sounds: [low, high, low] })
  const both = sum(low, high)
  assert.ok(correlation(targets[0]!, both) > 0.99)
  const level = dot(targets[0]!, low) / dot(low, low)
  assert.ok(Math.abs(level - 1) < 0.05, `${level}`)
})

test('an excluded sound leaves the mixture without it, and competes with what is asked for', () => {
  const mixture = sum(low, high)
  const [rest, kept] = runMixer([without(0), only(0)], { mixture, sounds: [low] }).targets
  assertNear(rest!, high, 0.02)
  assertNear(kept!, low, 0.02)
  const { targets } = runMixer([without(0), without(1)], { mixture, sounds: [low, high] })
  assertNear(sum(...targets), mixture, 0.02)
})

test('removing a part of a sound leaves the rest of it', () => {
  const mixture = sum(low, high, hiss)
  const recipe = { wanted: [0], unwanted: [1] }
  const [target] = runMixer([recipe], { mixture, sounds: [sum(low, high), high] }).targets
  const levels = [low, high].map((of) => dot(target!, of) / dot(of, of))
  assert.ok(Math.abs(levels[0]! - 1) < 0.02 && Math.abs(levels[1]!) < 0.05, `${levels}`)
})

test('silence stays silence', () => {
  const silence = new Float32Array(SAMPLES)
  const { targets } = runMixer([only(0), only(1)], { mixture: silence, sounds: [silence, silence] })
  for (const target of targets) assertNear(target, silence, 0)
})
