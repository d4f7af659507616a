/** Every kind of file keeps every channel at its level, whichever loudspeaker it is for. */

import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import type { SoundFormat } from '../../../../engine/media/channel-layout.ts'
import { createEncoder } from '../../../../engine/media/write/encode.ts'
import { lfeHasFullRange } from '../../../../engine/media/read/lfe-range.ts'
import { levelOf as rowLevelOf } from '../../../../models/lanes/level.ts'
import { SoundProcesses } from '../../../../engine/media/process/sound-process.ts'
import { noise, type Planes, sine } from '../../../support/media/signals.ts'
import { wavBytes } from '../../../support/media/wav.ts'
import { assertNear, mediaFolder, NO_LIMITS, readSound } from './read-sound.ts'

const { save } = mediaFolder()

const RATE = 48_000
const SECONDS = 0.5
const LEVEL = 0.3

/** Loudspeakers in the order of their bits in a WAV header. */
const LOUDSPEAKERS =
  'FL FR FC LFE BL BR FLC FRC BC SL SR TC TFL TFC TFR TBL TBC TBR - - - - - - - - - - - DL DR WL ' +
  'WR SDL SDR LFE2 TSL TSR BFC BFL BFR'
const NAMES = LOUDSPEAKERS.split(' ')
const maskOf = (layout: string): bigint =>
  layout.split(' ').reduce((mask, name) => mask | (1n << BigInt(NAMES.indexOf(name))), 0n)
const namesOf = (mask: bigint): string[] =>
  NAMES.filter((_, bit) => (mask & (1n << BigInt(bit))) !== 0n)

/** Frequency of each channel's tone in Hz. An LFE cuts off at 120 Hz. */
const toneOf = (channel: number, name: string | undefined): number =>
  name === 'LFE' ? 60 : 1_000 + 137 * channel

const tones = (count: number, names: readonly string[] = []): Float32Array[] =>
  Array.from({ length: count }, (_, c) =>
    sine(toneOf(c, names[c]), SECONDS, RATE).map((x) => LEVEL * x),
  )

/** Returns the level of a tone in a wave, in dB relative to what was put in. */
function levelOf(wave: Float32Array, hertz: number, rate = RATE): number {
  let [real, imaginary] = [0, 0]
  // Tapers the edges, because only the whole second would hold whole periods of every tone.
  const [from, to] = [4_000, wave.length - 4_000]
  for (let i = from; i < to; i++) {
    const taper = 1 - Math.cos((2 * Math.PI * (i - from)) / (to - from))
    real += taper * wave[i]! * Math.cos((2 * Math.PI * hertz * i) / rate)
    imaginary += taper * wave[i]! * Math.sin((2 * Math.PI * hertz * i) / rate)
  }
  const amplitude = (2 * Math.hypot(real, imaginary)) / (to - from)
  return 20 * Math.log10(amplitude / (LEVEL * peakOf(hertz, rate)) + 1e-9)
}

const peakOf = (hertz: number, rate: number): number =>
  sine(hertz, SECONDS, rate).reduce((most, x) => Math.max(most, Math.abs(x)), 0)

interface LayoutOptions {
  mask?: bigint
  lfeHasFullRange?: boolean
}

async function writeAndRead(
  format: SoundFormat,
  planes: Planes,
  { mask = 0n, ...more }: LayoutOptions = {},
) {
  const path = await save(`written.${format}`, new Uint8Array(0))
  const sound = { format, sampleRate: RATE, channels: planes.length, channelMask: mask }
  const encoder = await createEncoder(path, { ...sound, ...more })
  await encoder.write(planes)
  await encoder.finish()
  const read = await readSound(path)
  return { planes: read.planes, mask: read.mixture.channelMask, change: encoder.layoutChange }
}

const NAMED = [
  'FC',
  'FL FR',
  'FL FR FC',
  'FL FR LFE',
  'FL FR BC',
  'FL FR FC BC',
  'FL FR BL BR',
  'FL FR SL SR',
  'FL FR FC LFE',
  'FL FR FC BL BR',
  'FL FR FC SL SR',
  'FL FR FC LFE BC',
  'FL FR FC LFE BL BR',
  'FL FR FC LFE SL SR',
  'FL FR FC BC SL SR',
  'FL FR FLC FRC SL SR',
  'FL FR FC BL BR BC',
  'FL FR FC LFE BC SL SR',
  'FL FR FC LFE BL BR BC',
  'FL FR LFE FLC FRC SL SR',
  'FL FR FC BL BR SL SR',
  'FL FR FC FLC FRC SL SR',
  'FL FR FC LFE BL BR SL SR',
  'FL FR FC LFE BL BR FLC FRC',
  'FL FR FC LFE FLC FRC SL SR',
  'FL FR FC LFE BL BR TFL TFR',
  'FL FR FC BL BR BC SL SR',
]

for (const format of ['wav', 'flac', 'aac'] as const) {
  describe(`${format}, a layout that it names`, () => {
    for (const layout of NAMED) {
      test(layout, async () => {
        const names = layout.split(' ')
        const { planes, mask, change } = await writeAndRead(format, tones(names.length, names), {
          mask: maskOf(layout),
        })
        assert.equal(change, null)
        const found = namesOf(mask)
        assert.equal(planes.length, names.length)
        if (format !== 'aac') assert.deepEqual(found, names)
        for (const [channel, name] of names.entries()) {
          // AAC does not distinguish side from back if a layout has only one of them.
          const at = found.includes(name)
            ? found.indexOf(name)
            : found.indexOf(name.replace('S', 'B'))
          assertNear(levelOf(planes[at]!, toneOf(channel, name)), 0, 0.5)
        }
      })
    }
  })
}

const UNNAMEABLE: Record<string, readonly SoundFormat[]> = {
  'FL FR FC LFE TFL TFR': ['aac'],
  'FL FR BL BR TFL TFR TBL TBR': ['aac'],
  'FL FR FC LFE SL SR TFL TFR': ['aac'],
  'FL FR FC LFE SL SR TSL TSR': ['wav', 'flac', 'aac'],
  'FL FR LFE BC': ['aac'],
  'SL SR': ['aac', 'mp3'],
  'FL FC': ['aac', 'mp3'],
  'DL DR': ['wav', 'flac', 'aac', 'mp3'],
  LFE: ['aac', 'mp3'],
}

describe('a layout that a format has no name for', () => {
  for (const [layout, formats] of Object.entries(UNNAMEABLE)) {
    for (const format of formats) {
      test(`${layout} in ${format}: other names, the same channels, said in a line`, async () => {
        const count = layout.split(' ').length
        const { planes, mask, change } = await writeAndRead(format, tones(count), {
          mask: maskOf(layout),
        })
        assert.match(change!, new RegExp(`${format} has no name for the layout`))
        assert.equal(planes.length, count)
        assert.equal(namesOf(mask).includes('LFE'), false)
        planes.forEach((plane, c) => assertNear(levelOf(plane, toneOf(c, undefined)), 0, 0.5))
      })
    }
  }
})

describe('channels without names', () => {
  for (const count of [1, 2, 3, 4, 5, 6, 7, 8]) {
    for (const format of ['wav', 'flac', 'aac'] as const) {
      test(`${count} in ${format}: in their order, none an LFE`, async () => {
        const { planes, mask, change } = await writeAndRead(format, tones(count))
        if (format === 'wav' && count > 2) assert.equal(mask, 0n)
        assert.equal(namesOf(mask).includes('LFE'), false)
        if (count <= 2 || format === 'wav') assert.equal(change, null)
        else assert.match(change!, /Nothing names the loudspeakers/)
        assert.equal(planes.length, count)
        planes.forEach((plane, c) => assertNear(levelOf(plane, toneOf(c, undefined)), 0, 0.5))
      })
    }
  }

  test('of a WAV file stay without', async () => {
    const path = await save('discrete.wav', wavBytes(tones(6), RATE, 'float32', 0))
    assert.equal((await readSound(path)).mixture.channelMask, 0n)
  })
})

describe('mixed down', () => {
  const levels = (planes: Planes, channel: number, name?: string) =>
    Math.max(...planes.map((plane) => levelOf(plane, toneOf(channel, name))))

  for (const count of [3, 5, 6, 7, 8]) {
    test(`${count} channels without names in mp3: all evenly loud`, async () => {
      const { planes } = await writeAndRead('mp3', tones(count))
      const share = 20 * Math.log10(1 / Math.ceil(count / 2))
      for (let c = 0; c < count; c++) assertNear(levels(planes, c), share, 0.5)
    })
  }

  for (const layout of [
    'FL FR FC LFE BL BR',
    'FL FR FC LFE BL BR SL SR',
    'FL FR BL BR TFL TFR TBL TBR',
    'FL FR FC LFE SL SR TSL TSR',
  ]) {
    test(`${layout} in mp3: none is left out`, async () => {
      const names = layout.split(' ')
      const { planes } = await writeAndRead('mp3', tones(names.length, names), {
        mask: maskOf(layout),
      })
      for (const [c, name] of names.entries()) assertNear(levels(planes, c, name), -12, 5)
    })
  }

  test('ten channels in flac: none is left out', async () => {
    const names = 'FL FR FC LFE BL BR SL SR TBL TBR'.split(' ')
    const mask = maskOf(names.join(' '))
    const { planes } = await writeAndRead('flac', tones(names.length, names), { mask })
    assert.equal(planes.length, 8)
    for (const [c, name] of names.entries()) assertNear(levels(planes, c, name), -6, 1)
  })
})

describe('an LFE', () => {
  const MASK = 0x3f
  const file = (lfe: Float32Array, rate = RATE) => {
    const silence = new Float32Array(lfe.length)
    const planes = [silence, silence, silence, lfe, silence, silence]
    return save('lfe.wav', wavBytes(planes, rate, 'float32', MASK))
  }
  const judged = async (lfe: Float32Array, rate = RATE) => {
    const path = await file(lfe, rate)
    const processes = new SoundProcesses(dirname(path))
    const { signal } = new AbortController()
    return processes.use(signal, (reader) => reader.lfeHasFullRange(path, NO_LIMITS))
  }
  const late = (wave: Float32Array) => {
    const whole = new Float32Array(wave.length + 20 * RATE)
    whole.set(wave, 20 * RATE)
    return whole
  }
  const scaled = (wave: Float32Array, by: number) => wave.map((x) => by * x)

  const cases: [string, Float32Array, boolean, number?][] = [
    ['a tone of 1,500 Hz is full', scaled(sine(1_500, 1, RATE), 0.2), true],
    ['noise is full, in the last second too', late(scaled(noise(1, RATE), 0.1)), true],
    ['noise at 96 kHz is full', scaled(noise(1, 96_000), 0.1), true, 96_000],
    ['a tone of 60 Hz is not', sine(60, 2, RATE), false],
    ['a tone of 110 Hz is not, at 96 kHz either', sine(110, 1, 96_000), false, 96_000],
    ['the noise of 16 bits is not', scaled(noise(1, RATE), 2 ** -15), false],
    ['silence is not', new Float32Array(RATE), false],
  ]
  for (const [name, wave, expected, rate] of cases) {
    test(name, async () => assert.equal(await judged(wave, rate), expected))
  }

  test('each row of channels has the level of its mono mix', async () => {
    const waves = [0.1, 0.2, 0.3].map((by, i) => scaled(noise(1, RATE, i + 1), by))
    const path = await save('levels.wav', wavBytes(waves, RATE, 'float32', 0x7))
    const processes = new SoundProcesses(dirname(path))
    const { signal } = new AbortController()
    const levels = await processes.use(signal, (reader) => reader.levels(path, NO_LIMITS))
    for (const [i, sides] of [[waves[0]!, waves[1]!], [waves[2]!]].entries()) {
      const { mean, deviation } = rowLevelOf(sides)
      assert.ok(Math.abs(levels[i]!.mean - mean) < 1e-6)
      assert.ok(Math.abs(levels[i]!.deviation - deviation) < 1e-6)
    }
    assert.equal(levels.length, 2)
  })

  test('where there is none, none is full', async () => {
    const path = await save('front.wav', wavBytes(tones(3), RATE, 'float32', 0x7))
    const { mixture } = await readSound(path)
    assert.equal(await lfeHasFullRange(mixture), false)
  })

  test('that is full keeps its sound in aac, under another name', async () => {
    const planes = tones(6)
    const {
      planes: read,
      mask,
      change,
    } = await writeAndRead('aac', planes, { mask: BigInt(MASK), lfeHasFullRange: true })
    assert.match(change!, /The LFE of 5\.1 holds sound above 300 Hz/)
    assert.equal(namesOf(mask).includes('LFE'), false)
    read.forEach((plane, c) => assertNear(levelOf(plane, toneOf(c, undefined)), 0, 0.5))
  })
})
