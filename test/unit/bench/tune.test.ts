import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { exponential, seededRandom } from '../../support/basics/random.ts'
import {
  defaultsOf,
  keyOf,
  knobsFor,
  type Candidate,
  type Knob,
} from '../../../bench/tune/candidates.ts'
import { Journal } from '../../../bench/tune/journal.ts'
import { climb } from '../../../bench/tune/search.ts'
import { fc } from '../../support/basics/property.ts'

const MACHINE = { cores: 4, device: 'cpu', chunkFrames: 313 } as const

test('the knobs are those that do something', () => {
  const names = (machine: Parameters<typeof knobsFor>[0]) =>
    knobsFor(machine).map(({ name }) => name)
  const common = ['BATCH_FRAMES_MAX', 'JOBS_MAX', 'CHUNKS_IN_FLIGHT_MAX']
  assert.deepEqual(names(MACHINE), ['PRECISION', 'TF_NUM_INTRAOP_THREADS', ...common])
  assert.deepEqual(names({ ...MACHINE, cores: 1 }), ['PRECISION', ...common])
  assert.deepEqual(names({ ...MACHINE, device: 'gpu' }), ['PRECISION', ...common])
})

test('batches for which the memory would not do are not tried', () => {
  const memory = { bytes: { intercept: 1e9, slope: 1e6 }, available: 5e9 }
  const batch = knobsFor({ ...MACHINE, memory }).find(({ name }) => name === 'BATCH_FRAMES_MAX')
  assert.deepEqual(batch!.levels, ['313', '626', '1252', '2504', '4096'])
})

const LEVELS = ['0', '1', '2', '3', '4', '5']
const knob = (name: string, start: number): Knob => ({
  name,
  levels: LEVELS,
  default: LEVELS[start]!,
})

/** Has one top, where each knob is at its own best level; each level away costs a fifth. */
const hill = (tops: Record<string, number>) => (candidate: Candidate) =>
  Object.entries(tops).reduce(
    (value, [name, top]) => value * 0.8 ** Math.abs(Number(candidate[name]) - top),
    100,
  )

const search = (
  knobs: Knob[],
  measure: (candidate: Candidate) => Promise<number>,
  hasTimeLeft = () => true,
) => climb({ knobs, start: defaultsOf(knobs), hasTimeLeft, measure })

const level = fc.integer({ min: 0, max: 5 })

test('the search finds the top of any hill, having tried few of its places', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(level, level, level),
      fc.tuple(level, level, level),
      fc.nat(),
      async (tops, starts, seed) => {
        const names = ['a', 'b', 'c']
        const knobs = names.map((name, i) => knob(name, starts[i]!))
        const value = hill(Object.fromEntries(names.map((name, i) => [name, tops[i]!])))
        const random = seededRandom(seed)
        const tried = new Set<string>()
        const { ranking, ended } = await search(knobs, async (candidate) => {
          tried.add(keyOf(candidate))
          return value(candidate) * (0.97 + 0.06 * random())
        })
        assert.equal(ended, 'converged')
        const best = ranking[0]!.candidate
        assert.ok(value(best) > 95, `${JSON.stringify(best)} where the top is ${tops}`)
        assert.ok(tried.size <= 25, `${tried.size} of ${LEVELS.length ** 3} tried`)
      },
    ),
    { numRuns: 30 },
  )
})

test('a setting is tried again once another has made way for it', async () => {
  // Jobs gain nothing where batches have no room, and then do.
  const { ranking } = await search(
    [knob('a', 0), knob('b', 0)],
    async ({ a, b }) => 100 * 1.2 ** Math.min(Number(a), Number(b) * 2) * 1.05 ** Number(b),
  )
  assert.deepEqual(ranking[0]!.candidate, { a: '5', b: '5' })
})

test('a candidate that fails is dropped', async () => {
  const { ranking } = await search([knob('a', 2)], async ({ a }) => (a === '3' ? 0 : 10))
  const { candidate, score } = ranking.at(-1)!
  assert.equal(candidate.a, '3')
  assert.ok(score < 0.01, `${score}`)
})

test('a search that is out of time answers with what it has', async () => {
  let left = 2
  const { ranking, ended } = await search(
    [knob('a', 0), knob('b', 0)],
    async ({ a }) => 10 * (1 + Number(a)),
    () => (left -= 1) >= 0,
  )
  assert.equal(ended, 'out of time')
  assert.equal(ranking[0]!.candidate.a, '2')
})

test('a journal gives again what was measured, and measures the rest', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'runs.jsonl')
  const options = { header: { mix: '4s:1' }, resume: false, load1: () => 0 }
  const first = new Journal(path, options)
  assert.equal(await first.run({ turn: 0 }, async () => exponential(() => 0.5)), Math.log(2))
  assert.throws(() => new Journal(path, options), /--resume/)
  assert.throws(
    () => new Journal(path, { ...options, resume: true, header: { mix: '5s:1' } }),
    /another mix/,
  )
  const second = new Journal(path, { ...options, resume: true })
  const never = () => Promise.reject<number>(new Error('measured again'))
  assert.equal(await second.run({ turn: 0 }, never), Math.log(2))
  assert.equal(second.elapsedSeconds, first.elapsedSeconds)
  assert.equal(await second.run({ turn: 1 }, async () => 2), 2)
})
