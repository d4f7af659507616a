/** The segments of a preview, decoded one by one, contain every sample of the sounds. */

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { OutputSounds } from '../../../../../engine/job/outputs/output-sounds.ts'
import { Preview } from '../../../../../engine/job/outputs/preview.ts'
import type { PreviewIndex } from '../../../../../engine/job/outputs/preview-index.ts'
import type { Peaks } from '../../../../../clients/typescript/client.ts'
import { endOfPart } from '../../../../../shared/live-preview.ts'
import { temporaryFolder } from '../../../../support/basics/temporary-folder.ts'
import { readSound } from '../../media/read-sound.ts'
import { plainPlan } from '../../../../support/engine/plain-plan.ts'
import { noise, type Planes } from '../../../../support/media/signals.ts'

const folder = temporaryFolder({ after })

async function decode(bytes: Buffer): Promise<Planes> {
  const path = join(folder, 'segment.ogg')
  await writeFile(path, bytes)
  return (await readSound(path)).planes
}

/** A sweep that no other place in it is like, louder on the left. */
function sweep(seconds: number, rate: number): Float32Array[] {
  const at = (i: number) => Math.sin(2 * Math.PI * (200 + (40 * i) / rate) * (i / rate))
  const left = Float32Array.from({ length: Math.round(seconds * rate) }, (_, i) => 0.5 * at(i))
  return [left, left.map((x) => x / 2)]
}

const energyOf = (wave: Float32Array): number => wave.reduce((sum, x) => sum + x * x, 0)

/** In dB, of a wave that is given as another. */
const signalToError = (wave: Float32Array, given: Float32Array): number =>
  10 * Math.log10(energyOf(wave) / energyOf(wave.map((x, i) => x - given[i]!)))

interface Written {
  index: PreviewIndex
  /** By lane: mixture, target, residual. */
  segments: Buffer[][]
}

const openOutputs = (sampleRate: number, channels: number, isLive = false) =>
  OutputSounds.open({
    names: ['target', 'residual'],
    folder,
    encoding: { format: 'wav', sampleRate, channels },
    hasTracks: false,
    hasPreview: true,
    isLive,
  })

/** @param blockSamples of the blocks in which the target is written; the residual is as it is */
async function write(sound: Float32Array[], rate: number, blockSamples: number): Promise<Written> {
  const outputs = await openOutputs(rate, sound.length)
  for (let from = 0; from < sound[0]!.length; from += blockSamples) {
    const target = sound.map((plane) => plane.slice(from, from + blockSamples))
    const mixture = target.map((plane) => plane.map((x) => 2 * x))
    await outputs.write({ mixture, sounds: [target], plan: plainPlan(1) })
  }
  const { preview, peaks, previewProblem } = await outputs.finish()
  assert.equal(previewProblem, null)
  const index = JSON.parse(await readFile(peaks!.path, 'utf8')).preview as PreviewIndex
  const bytes = await readFile(preview!.path)
  assert.equal(bytes.length, preview!.bytes)
  const segments: Buffer[][] = [[], [], []]
  let at = 0
  for (const [i, length] of index.bytes.entries()) {
    segments[i % 3]!.push(bytes.subarray(at, at + length))
    at += length
  }
  assert.equal(at, bytes.length)
  return { index, segments }
}

test('each segment alone decodes to its samples, at any rate and length', async () => {
  for (const [rate, seconds, blockSamples] of [
    [48_000, 12.3456, 30_000],
    [44_100, 9.999_999, 441_001],
    [48_000, 5, 7_777],
    [8_000, 0.01, 80],
  ] as const) {
    const name = `${seconds} s at ${rate} Hz`
    const { index, segments } = await write(sweep(seconds, rate), rate, blockSamples)
    const wanted = sweep(index.samples / 48_000, 48_000)
    assert.ok(Math.abs(index.samples - seconds * 48_000) <= 3, name)
    const [mixture, target] = index.levels
    assert.ok(Math.abs(mixture!.peak - 1) < 0.01 && mixture!.peak === 2 * target!.peak, name)
    const loudness = Math.sqrt((0.5 ** 2 + 0.25 ** 2) / 4) // of a sine in two channels
    assert.ok(Math.abs(target!.loudness / loudness - 1) < 0.02, `${name}: ${target!.loudness}`)
    for (const [lane, factor] of [2, 1, 1].entries()) {
      const decoded: Planes[] = []
      for (const segment of segments[lane]!) decoded.push(await decode(segment))
      assert.equal(decoded.length, Math.ceil(index.samples / index.segment_samples), name)
      for (const [k, planes] of decoded.entries()) {
        const from = k * index.segment_samples
        const length = Math.min(index.segment_samples, index.samples - from)
        assert.equal(planes[0]!.length, length, `${name}, segment ${k}`)
        for (const [channel, plane] of planes.entries()) {
          const part = wanted[channel]!.subarray(from, from + length).map((x) => factor * x)
          if (length < 4_800) continue
          assert.ok(signalToError(part, plane) > 15, `${name}: ${signalToError(part, plane)} dB`)
          // The start of a segment is as good as any: its decoder has had a packet before it.
          const start = signalToError(part.subarray(0, 960), plane.subarray(0, 960))
          assert.ok(start > 12, `${name}, segment ${k}: starts at ${start} dB`)
        }
      }
    }
  }
})

test('mono is mono, surround is mixed down, and damage is silence', async () => {
  const damaged = noise(1, 48_000).map((x, i) => (i % 100 === 0 ? NaN : x))
  for (const [sound, channels] of [
    [[damaged], 1],
    [Array.from({ length: 6 }, (_, i) => noise(1, 48_000, i)), 2],
  ] as const) {
    const { segments } = await write([...sound], 48_000, 48_000)
    const planes = await decode(segments[1]![0]!)
    assert.equal(planes.length, channels)
    assert.ok(planes.every((plane) => energyOf(plane) > 0))
  }
})

test('the parts of a live preview are the preview so far, whatever the blocks', async () => {
  const rate = 8_000
  const [sound] = sweep(41, rate)
  const made: Buffer[][] = []
  for (const blockSamples of [rate, 17 * rate]) {
    const outputs = await openOutputs(rate, 1, true)
    const parts: Buffer[] = []
    let written = 0
    for (let from = 0; from < sound!.length; from += blockSamples) {
      const target = [sound!.slice(from, from + blockSamples)]
      written += target[0]!.length
      for (const { path, seconds } of await outputs.write({
        mixture: target.map((plane) => plane.map((x) => 2 * x)),
        sounds: [target],
        plan: plainPlan(1),
      })) {
        assert.ok(seconds <= written / rate, 'nothing is promised before it is there')
        parts.push(await readFile(path))
      }
    }
    const { preview } = await outputs.finish()
    const whole = await readFile(preview!.path)
    let [at, segments] = [0, 0]
    for (const part of parts) {
      const jsonEnd = 4 + part.readUInt32LE()
      const peaks = JSON.parse(part.toString('utf8', 4, jsonEnd)) as Peaks
      const { preview: index, mixture } = peaks
      const own = part.subarray(jsonEnd)
      assert.deepEqual(own, whole.subarray(at, at + own.length))
      assert.equal(
        own.length,
        index!.bytes.reduce((sum, length) => sum + length, 0),
      )
      assert.equal(index!.samples, (endOfPart(segments) - segments) * index!.segment_samples)
      assert.ok(Math.abs(index!.levels[0]!.peak - 1) < 0.01)
      at += own.length
      segments = endOfPart(segments)
      const drawn = (mixture.length * mixture.samples_per_pixel) / mixture.sample_rate
      assert.ok(drawn >= 5 * segments && mixture.length <= 1_024, `${drawn} s`)
    }
    assert.equal(segments, 7, 'of 41 s, 35 are in parts')
    made.push(parts.map((part) => part.subarray(4 + part.readUInt32LE())))
  }
  assert.deepEqual(made[0], made[1], 'another attempt makes the same parts')
})

test('a preview that cannot be written costs no output, and says why', async () => {
  const preview = await Preview.open('/nowhere/preview', ['target', 'residual'], {
    sampleRate: 48_000,
    channels: 1,
  })
  preview.add('mixture', [noise(1, 48_000)])
  await preview.encode()
  assert.equal(await preview.finish(), null)
  assert.match(preview.problem!, /ENOENT/)
})
