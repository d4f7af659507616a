import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('../../../../examples', import.meta.url))
const HEADER_BYTES = 44

/** Reads one of our own files, whose header is the shortest possible. */
function readWav(path: string): { header: Buffer; samples: Int16Array } {
  const file = readFileSync(join(FOLDER, path))
  const samples = Int16Array.from({ length: (file.length - HEADER_BYTES) / 2 }, (_, i) =>
    file.readInt16LE(HEADER_BYTES + 2 * i),
  )
  return { header: file.subarray(0, HEADER_BYTES), samples }
}

for (const name of readdirSync(join(FOLDER, 'sources'))) {
  test(`the example ${name} is the sum of its sources, at -3 dBFS and 0 dB`, () => {
    const mixture = readWav(`${name}.wav`)
    const files = readdirSync(join(FOLDER, 'sources', name))
    const sources = files.map((file) => readWav(`sources/${name}/${file}`))
    const sum = mixture.samples.map((_, i) =>
      sources.reduce((total, { samples }) => total + (samples[i] ?? 0), 0),
    )
    assert.ok(
      sources.every(({ header }) => header.equals(mixture.header)),
      'one form and length',
    )
    assert.equal(mixture.header.readUInt32LE(24), 44_100)
    assert.deepEqual(sum, mixture.samples)

    const peak = mixture.samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
    assert.ok(Math.abs(20 * Math.log10(peak / 32_767) + 3) < 0.01, `peak ${peak}`)
    const [one = 0, other = 0] = sources.map(({ samples }) =>
      samples.reduce((energy, sample) => energy + sample * sample, 0),
    )
    assert.ok(Math.abs(10 * Math.log10(one / other)) < 0.01)
  })
}
