/** Options such as candidates and predicted spans, and what `logs` say about them. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { assertClose } from '../../support/basics/assert-close.ts'
import { examplePath, readWav16, siSdr, sumError } from '../../support/media/examples.ts'
import { noise } from '../../support/media/signals.ts'
import { separateFile } from '../../support/processes/start-winnow.ts'
import { readWav24, wavBytes } from '../../support/media/wav.ts'
import { separated, winnow } from './winnow.ts'

/** Returns the peak of a wave between two times in seconds. */
const peakOf = (wave: Float32Array, from: number, to: number): number =>
  wave.slice(from * 44_100, to * 44_100).reduce((most, x) => Math.max(most, Math.abs(x)), 0)

test('spans and chunk options take effect', async () => {
  const { target, logs } = await separated(examplePath('speech-over-piano.wav'), {
    prompt: 'piano',
    max_chunk_duration: 2,
    chunk_overlap: 0.5,
    spans: [{ start: 1, end: 3, include: true }],
  })
  assert.match(logs.join('\n'), /chunks of 2\.00 s overlapping by 0\.50 s/)
  const [wave] = target
  assert.equal(peakOf(wave!, 3.1, 6), 0)
  assert.equal(peakOf(wave!, 0, 0.9), 0)
  assert.ok(peakOf(wave!, 1.1, 2.9) > 0.01)
})

test('candidates are scored in the logs, and the best one is the same every time', async () => {
  const path = examplePath('drums-and-flute.wav')
  const options = {
    prompt: 'flute',
    reranking_candidates: 4,
    max_chunk_duration: 4,
    chunk_overlap: 1,
  }
  const [first, again] = [await separated(path, options), await separated(path, options)]
  for (const [i, plane] of again.target.entries()) {
    assertClose(plane, first.target[i]!, { absolute: 1e-5 }) // whether it runs as a graph or step by step
  }
  const line = /^Chunk \d+: candidate [1-4] was kept; scores( \d\.\d{4},){3} \d\.\d{4}\.$/
  const logged = first.logs.filter((message) => line.test(message))
  assert.ok(logged.length >= 2, first.logs.join('\n'))
  for (const line of logged) {
    const scores = [...line.matchAll(/\d\.\d{4}/g)].map(([score]) => Number(score))
    const kept = Number(/candidate (\d)/.exec(line)?.[1])
    assert.equal(scores[kept - 1], Math.max(...scores))
  }
  const mixture = await readWav16(path)
  assert.ok(
    sumError(first.target, first.residual, mixture) <= 3 / 2 ** 23,
    'target + residual = mixture',
  )
})

test('several prompts give nearly the targets they give alone, none inverted in the residual, and add up', async () => {
  const path = examplePath('drums-and-flute.wav')
  const prompts = ['flute', 'drums']
  const { submitted, last } = await separateFile(winnow, path, { prompts })
  assert.equal(last.status, 'COMPLETED', JSON.stringify(last.error))
  const { data } = await winnow.client.result(submitted)
  const get = async (url: string) =>
    readWav24(Buffer.from(await (await fetch(url)).arrayBuffer())).planes
  const targets = await Promise.all(data.targets!.map(({ url }) => get(url)))
  const residual = await get(data.residual.url)
  for (const [i, prompt] of prompts.entries()) {
    const { target } = await separated(path, { prompt })
    const likeness = siSdr(targets[i]!, target)
    assert.ok(likeness > 15, `they compete where both found the same: ${likeness} dB`)
    const [product, energy] = dotAndEnergies(residual[0]!, targets[i]![0]!)
    assert.ok(product / Math.sqrt(energy) > -0.05, `${prompt}: ${product / Math.sqrt(energy)}`)
  }
  const both = targets[0]!.map((plane, c) => plane.map((x, i) => x + targets[1]![c]![i]!))
  assert.ok(sumError(both, residual, await readWav16(path)) <= 4 / 2 ** 23, 'they add up')
  const logs = (last.logs ?? []).map(({ message }) => message).join('\n')
  assert.match(logs, /"drums": The prompt is taken to mean: drum/)
  assert.match(logs, /Stored target, target 2 and residual as wav\./)
})

/** Returns the dot product of two waves, and the product of their energies. */
function dotAndEnergies(
  one: Float32Array,
  other: Float32Array,
): [product: number, energies: number] {
  const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + x * b[i]!, 0)
  return [dot(one, other), dot(one, one) * dot(other, other)]
}

test('predict_spans silences the target where it is not, over speech, and reports the spans', async () => {
  const [siren] = await readWav16(examplePath('sources/siren-and-speech/siren.wav'))
  const [speech] = await readWav16(examplePath('sources/siren-and-speech/speech.wav'))
  const rest = Float32Array.from({ length: 12 * 44_100 }, (_, i) => speech![i % speech!.length]!)
  const late = new Float32Array(12 * 44_100)
  late.set(siren!.subarray(0, 4 * 44_100), 4 * 44_100)
  const path = join(winnow.folder, 'late-siren.wav')
  await writeFile(path, wavBytes([late.map((x, i) => x + rest[i]!)], 44_100))
  const { target, logs } = await separated(path, { prompt: 'siren', predict_spans: true })
  assert.match(logs.join('\n'), /Predicted \d+ spans? with the sound/)
  assert.match(logs.join('\n'), /The prompt is taken to mean: siren \(/)
  const peak = (from: number, to: number) => peakOf(target[0]!, from, to)
  assert.ok(peak(4.5, 7.5) > 0.02, 'the siren is there')
  const likeness = (plane: Float32Array) =>
    siSdr(
      [target[0]!.subarray(4.5 * 44_100, 7.5 * 44_100)],
      [plane.subarray(4.5 * 44_100, 7.5 * 44_100)],
    )
  assert.ok(likeness(late) > likeness(rest) + 6, 'and it is the siren, not the sound under it')
  const predicted = logs.filter((line) => line.includes('Predicted')).join('\n')
  const spans = [...predicted.matchAll(/(\d+\.\d\d) to (\d+\.\d\d) s/g)].map(([, start, end]) => ({
    start: Number(start),
    end: Number(end),
  }))
  const found = spans.findLast(({ start }) => start < 4.5)!
  assert.ok(found.end > 7.5, 'one span has the siren')
  const wrong = spans.filter((span) => span !== found).map(({ start, end }) => end - start)
  assert.ok(
    wrong.reduce((sum, seconds) => sum + seconds, 0) < 0.5,
    'and others have next to nothing',
  )
  const silentFrom = spans[spans.indexOf(found) - 1]?.end ?? 0
  assert.equal(peak(silentFrom + 0.02, found.start - 0.02), 0)
})

test('acceleration determines overlap and passes, and the logs say which', async () => {
  const path = join(winnow.folder, 'long.wav')
  await writeFile(path, wavBytes([noise(12, 16_000)], 16_000))
  const plans = {
    fast: /10\.00 s overlapping by 1\.00 s; fast: one pass/,
    balanced: /10\.00 s overlapping by 2\.00 s; balanced: one pass/,
    quality:
      /overlapping by 2\.00 s; quality: the mean of three passes with frames of other lengths/,
  }
  for (const [acceleration, plan] of Object.entries(plans)) {
    const { logs } = await separated(path, {
      prompt: 'noise',
      acceleration: acceleration as keyof typeof plans,
    })
    assert.match(logs.join('\n'), plan)
    assert.match(logs[0] ?? '', /^Decoding pcm_s16le in wav: 16000 Hz, 1 channel\.$/)
    assert.equal(logs.at(-1), 'Stored target and residual as wav.')
  }
})
