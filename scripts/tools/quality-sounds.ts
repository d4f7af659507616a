/**
 * `winnow quality-sounds`: makes the sounds of docs/explain/quality.md with the built-in model, and
 * prints the figures of its table. Encodes the sounds with Debian's ffmpeg.
 */

import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createScope } from '../../test/support/processes/scope.ts'
import { examplePath, readWav16, siSdr } from '../../test/support/media/examples.ts'
import {
  downloadResult,
  separateFile,
  startWinnow,
  type Winnow,
} from '../../test/support/processes/start-winnow.ts'
import { readWav24, wavBytes } from '../../test/support/media/wav.ts'

interface Case {
  name: string
  /**
   * Files below examples/sources: the sound that the prompt describes, and the one mixed with it at
   * 0 dB.
   */
  source: string
  other: string
  prompt: string
}

const FOLDER = 'docs/sounds'
const SAMPLE_RATE = 44_100
const PEAK = 0.7
/** Mono at a low bit rate, so that all sounds together stay below 300 KB. */
const MP3 = ['-ac', '1', '-ar', '24000', '-c:a', 'libmp3lame', '-b:a', '32k', '-map_metadata', '-1']
const CASES: readonly Case[] = [
  {
    name: 'drums',
    source: 'drums-and-flute/drums',
    other: 'drums-and-flute/flute',
    prompt: 'drums',
  },
  {
    name: 'speech',
    source: 'speech-over-piano/speech',
    other: 'speech-over-piano/piano',
    prompt: 'a person speaking',
  },
  {
    name: 'flute',
    source: 'drums-and-flute/flute',
    other: 'speech-over-piano/piano',
    prompt: 'flute',
  },
  {
    name: 'woman',
    source: 'siren-and-speech/speech',
    other: 'speech-over-piano/speech',
    prompt: 'a woman speaking',
  },
]

const scope = createScope()
await mkdir(FOLDER, { recursive: true })
try {
  const winnow = await startWinnow(scope)
  for (const soundCase of CASES) await makeCase(winnow, soundCase)
} finally {
  await scope.end()
}

async function makeCase(winnow: Winnow, { name, source, other, prompt }: Case): Promise<void> {
  const [described, rest] = await Promise.all([source, other].map(readMono))
  const { mixture, reference } = mix(described!, rest!)
  const path = join(winnow.folder, `${name}.wav`)
  await writeFile(path, wavBytes([mixture], SAMPLE_RATE))
  const { submitted } = await separateFile(winnow, path, { prompt })
  const { target, residual } = await downloadResult(winnow, submitted)
  for (const [part, bytes] of Object.entries({ target, residual })) {
    await writeFile(join(winnow.folder, `${name}-${part}.wav`), bytes)
  }
  for (const part of ['', '-target', '-residual']) {
    const sound = join(winnow.folder, `${name}${part}.wav`)
    const out = join(FOLDER, `${name}${part || '-mixture'}.mp3`)
    execFileSync('ffmpeg', ['-v', 'error', '-y', '-i', sound, ...MP3, out])
  }
  const before = siSdr([mixture], [reference])
  const { planes } = readWav24(target)
  const after = planes[0]!.some((x) => x !== 0) ? siSdr(planes, [reference]).toFixed(1) : 'silence'
  console.log(`${name}: "${prompt}" ${before.toFixed(1)} → ${after} (dB of SI-SDR)`)
}

/** Reads a file and averages its channels. */
async function readMono(name: string): Promise<Float32Array> {
  const planes = await readWav16(examplePath(`sources/${name}.wav`))
  return planes[0]!.map((_, i) => planes.reduce((sum, plane) => sum + plane[i]!, 0) / planes.length)
}

/** Mixes both at equal energy, cut to the shorter length. */
function mix(described: Float32Array, rest: Float32Array) {
  const length = Math.min(described.length, rest.length)
  const [target, other] = [described.subarray(0, length), rest.subarray(0, length)]
  const energy = (sound: Float32Array) => sound.reduce((sum, x) => sum + x * x, 0)
  const gain = Math.sqrt(energy(target) / energy(other))
  const mixture = target.map((x, i) => x + gain * other[i]!)
  const scale = PEAK / mixture.reduce((most, x) => Math.max(most, Math.abs(x)), 0)
  return { mixture: mixture.map((x) => x * scale), reference: target.map((x) => x * scale) }
}
