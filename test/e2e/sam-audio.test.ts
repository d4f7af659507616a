/**
 * A real engine with SAM-Audio, over HTTP, with a tiny checkpoint of random weights in the published
 * format. Compares the service's answers with direct calls of the model.
 */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { before, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { planChunks, Stitcher } from '../../engine/job/chunks.ts'
import { cutChunks } from '../support/engine/cut-chunks.ts'
import { openLane, closeLane, type LaneRequest, type OverlapState } from '../../models/model.ts'
import { loadSamAudio } from '../../models/sam-audio/sam-audio.ts'
import { assertClose } from '../support/basics/assert-close.ts'
import { noise, sine } from '../support/media/signals.ts'
import { readWav24, wavBytes } from '../support/media/wav.ts'
import {
  downloadResult,
  separateFile,
  startWinnow,
  type Winnow,
} from '../support/processes/start-winnow.ts'

const FOLDER = fileURLToPath(new URL('../fixtures/sam-audio', import.meta.url))
/** Error of 24-bit samples, and of sums in another order. */
const ROUNDING = 2e-5

const model = await loadSamAudio(FOLDER)
const rate = model.description.sampleRate!

let winnow: Winnow
before(async (t) => {
  winnow = await startWinnow(t as TestContext, { env: { MODEL: `sam-audio:${FOLDER}` } })
})

type Options = Parameters<typeof separateFile>[2]

async function separated(planes: Float32Array[], options: Options, sampleRate = rate) {
  const path = join(winnow.folder, `${options.prompt}-${planes.length}-${sampleRate}.wav`)
  await writeFile(path, wavBytes(planes, sampleRate, 'float32'))
  const { submitted, last } = await separateFile(winnow, path, options)
  assert.equal(last.status, 'COMPLETED', JSON.stringify(last.error))
  const files = await downloadResult(winnow, submitted)
  return {
    requestId: submitted.request_id,
    target: readWav24(files.target),
    residual: readWav24(files.residual),
    logs: (last.logs ?? []).map(({ message }) => message).join('\n'),
  }
}

/** Calls the model directly with the same chunks, and with the seed of the request. */
async function separateDirectly(
  mixture: Float32Array,
  requestId: string,
  more: Partial<LaneRequest>,
  chunking?: [seconds: number, overlap: number],
): Promise<Float32Array> {
  const { frameSamples, chunkSecondsMax, overlapSecondsMax } = model.description
  const plan = planChunks({
    sampleRate: rate,
    channels: 1,
    frameSamples,
    chunkSecondsMax: chunking?.[0] ?? 60,
    overlapSeconds: chunking?.[1] ?? 5,
    modelChunkSecondsMax: chunkSecondsMax,
    modelOverlapSecondsMax: overlapSecondsMax.balanced,
  })
  const seed = createHash('sha256').update(`${requestId}:0`).digest().readUInt32LE(0)
  const stitcher = new Stitcher(plan)
  const parts: Float32Array[] = []
  let previousState: OverlapState | undefined
  const blocks = (async function* () {
    yield [mixture]
  })()
  for await (const { startSample, sharedSamples, channels } of cutChunks(blocks, 1, plan)) {
    const lane = openLane(model, {
      chunk: { channels, sampleRate: rate },
      startSample,
      overlapSamples: sharedSamples,
      seed,
      prompt: '',
      spans: [],
      acceleration: 'balanced',
      ...(previousState && { overlapState: previousState }),
      ...more,
    })
    while (lane.stepsDone < lane.steps) model.step([lane])
    const { target, overlapState } = closeLane(model, lane)
    previousState = overlapState
    parts.push(...stitcher.push(startSample, target))
  }
  return Float32Array.from([...parts, ...stitcher.finish()].flatMap((part) => [...part]))
}

const sound = (seconds: number) =>
  noise(seconds, rate).map((x, i) => 0.2 * x + 0.3 * sine(300, seconds, rate)[i]!)

/** Lowers a wave as the service lowers all outputs when one would clip. */
function lower(wave: Float32Array, logs: string): Float32Array {
  const [, decibels = '0'] = /Lowered all outputs by (\d+\.\d+) dB/.exec(logs) ?? []
  return wave.map((x) => x * 10 ** (-Number(decibels) / 20))
}

test('the service separates a whole file as the model does', async () => {
  const mixture = sound(1.53)
  const { requestId, target, residual, logs } = await separated([mixture], {
    prompt: 'Man speaking.',
  })
  assert.deepEqual([target.sampleRate, target.planes.length, residual.planes.length], [rate, 1, 1])
  assert.equal(residual.planes[0]!.length, mixture.length)
  const expected = await separateDirectly(mixture, requestId, { prompt: 'man' }) // as the prompt is normalized
  assertClose(target.planes[0]!, lower(expected, logs), { absolute: ROUNDING })
  assert.match(logs, /with sam-audio in one chunk; balanced: 16 midpoint steps/)
})

test('longer media is cut at whole frames, and overlapping chunks share their noise', async () => {
  const mixture = sound(3.31)
  const options = { prompt: 'rain', max_chunk_duration: 1.5, chunk_overlap: 0.5 }
  const { requestId, target, logs } = await separated([mixture], options)
  const expected = await separateDirectly(mixture, requestId, { prompt: 'rain' }, [1.5, 0.5])
  assertClose(target.planes[0]!, lower(expected, logs), { absolute: ROUNDING })
})

test('stereo at another rate keeps its form, and adds up', async () => {
  const planes = [sine(440, 0.7, 16_000), noise(0.7, 16_000)]
  const { target, residual, logs } = await separated(
    planes,
    { prompt: 'a bell', acceleration: 'fast' },
    16_000,
  )
  assert.deepEqual([target.sampleRate, target.planes.length], [16_000, 2])
  for (const [c, wave] of planes.entries()) {
    const sum = target.planes[c]!.map((x, i) => x + residual.planes[c]![i]!)
    assertClose(sum, lower(wave, logs), { absolute: ROUNDING })
  }
  assert.match(logs, /fast: 8 midpoint steps/)
})

test('spans and candidates take effect, and the logs say how', async () => {
  const { logs } = await separated([sound(1)], {
    prompt: 'a dog',
    acceleration: 'fast',
    reranking_candidates: 3,
    spans: [{ start: 0.2, end: 0.5, include: true }],
  })
  assert.match(logs, /Made 3 candidates/)
  assert.match(logs, /scores -?\d+\.\d+, -?\d+\.\d+, -?\d+\.\d+/)
  assert.match(logs, /Used 1 given span/)
})

test('concurrent requests of different lengths and steps give the same as alone', async () => {
  const cases = [
    ['fast', 0.4],
    ['quality', 1.1],
    ['balanced', 0.8],
    ['fast', 2.2],
  ] as const
  const answers = await Promise.all(
    cases.map(async ([acceleration, seconds]) => {
      const mixture = sound(seconds)
      const prompt = `${acceleration} ${seconds}`
      return {
        mixture,
        acceleration,
        prompt,
        ...(await separated([mixture], { prompt, acceleration })),
      }
    }),
  )
  for (const { mixture, requestId, target, logs, ...settings } of answers) {
    const expected = await separateDirectly(mixture, requestId, {
      prompt: settings.prompt,
      acceleration: settings.acceleration,
    })
    assertClose(target.planes[0]!, lower(expected, logs), { absolute: ROUNDING })
  }
})

test('an engine without its model does not start, and says what is missing', async () => {
  await assert.rejects(winnow.startEngine({ MODEL: 'sam-audio:/nowhere/at-all' }), /nowhere/)
  await assert.rejects(
    winnow.startEngine({ MODEL: 'sam-audio' }),
    /MODEL must name models of mini, sam-audio:<folder>/,
  )
})
