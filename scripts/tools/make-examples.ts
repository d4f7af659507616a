/**
 * Makes the recordings of `examples/`: mixtures with their true sources, to measure separations by.
 * The same tools make the same bytes.
 *
 *   npx tsx scripts/tools/make-examples.ts [folder]
 */

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SAMPLE_RATE = 44_100
const PEAK = 32_767 * 10 ** (-3 / 20) // -3 dBFS
const SOUND_FONT = '/usr/share/sounds/sf2/FluidR3_GM.sf2'
const MISSING = `make-examples needs espeak-ng, fluidsynth and ${SOUND_FONT}:
  apt-get install espeak-ng fluidsynth fluid-soundfont-gm`

/** One array of samples for each channel. */
type Sound = Float64Array[]

interface Example {
  name: string
  seconds: number
  channels: 1 | 2
  sources: Record<string, () => Sound>
}

interface Note {
  /** Seconds. */
  start: number
  length: number
  key: number
  velocity: number
}

interface Part {
  /** General MIDI's number of the instrument, from 0. */
  program: number
  channel: number
  /** 0 is left, 64 the middle, 127 right. */
  pan: number
  notes: Note[]
}

const EXAMPLES: readonly Example[] = [
  {
    name: 'speech-over-piano',
    seconds: 6,
    channels: 1,
    sources: {
      speech: () =>
        speak(
          'en-us+m3',
          'Say what you want to hear, in your own words, ' +
            'and the rest of the recording is taken away.',
        ),
      piano: () => play({ program: 0, channel: 0, pan: 64, notes: pianoNotes() }),
    },
  },
  {
    name: 'siren-and-speech',
    seconds: 6,
    channels: 1,
    sources: {
      siren: () => siren(6),
      speech: () =>
        speak(
          'en-gb+f2',
          'I am standing at the corner of the market. ' + 'Can you hear me over all that noise?',
        ),
    },
  },
  {
    name: 'drums-and-flute',
    seconds: 5.5,
    channels: 2,
    sources: {
      drums: () => play({ program: 0, channel: 9, pan: 76, notes: drumNotes() }),
      flute: () => play({ program: 73, channel: 0, pan: 38, notes: fluteNotes() }),
    },
  },
]

function main(folder: string): void {
  for (const example of EXAMPLES) {
    const names = Object.keys(example.sources)
    const sounds = names.map((name) => {
      const sound = example.sources[name]?.() ?? []
      return evenLoudness(shape(example.channels === 1 ? toMono(sound) : sound, example.seconds))
    })
    const sources = round(sounds)
    const mixture = sources.reduce(add)
    mkdirSync(join(folder, 'sources', example.name), { recursive: true })
    writeFileSync(join(folder, `${example.name}.wav`), wav(mixture))
    names.forEach((name, index) => {
      const path = join(folder, 'sources', example.name, `${name}.wav`)
      writeFileSync(path, wav(sources[index] ?? []))
    })
  }
}

// The sounds

/** Arpeggios of C, a minor, F and G with a slow melody among them. */
function pianoNotes(): Note[] {
  const chords = [
    [48, 55, 64],
    [45, 52, 60],
    [41, 53, 57],
    [43, 50, 59],
  ]
  const melody = [64, 62, 60, 59, 60, 57, 55, 59]
  const eighth = 0.25
  const low = chords.flatMap((chord, bar) =>
    [0, 1, 2, 1, 2, 1].map((which, step) => ({
      start: (bar * 6 + step) * eighth,
      length: eighth * 2,
      key: chord[which] ?? 0,
      velocity: 72,
    })),
  )
  const high = melody.map((key, index) => ({
    start: index * eighth * 3,
    length: eighth * 2.8,
    key,
    velocity: 96,
  }))
  return [...low, ...high]
}

/** A straight beat, 112 to the minute, with a fill at the end. */
function drumNotes(): Note[] {
  const kick = 36,
    snare = 38,
    hat = 42,
    crash = 49,
    tom = 45
  const lines: readonly [number, string, number][] = [
    [kick, 'x.....x.x.....x.x.....x.x.x...x.x.......x', 112],
    [snare, '....x.......x.......x.......x.......x.xx.', 100],
    [hat, 'x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x......', 80],
    [tom, '.....................................x.x.', 100],
    [crash, 'x...............................x........', 90],
  ]
  return lines.flatMap(([key, steps, velocity]) =>
    [...steps].flatMap((step, index) =>
      step === 'x' ? [{ start: (index * 60) / 112 / 4, length: 0.2, key, velocity }] : [],
    ),
  )
}

/** A slow tune in d minor: pairs of key and eighths. */
function fluteNotes(): Note[] {
  const tune = [
    [74, 3],
    [77, 1],
    [81, 3],
    [79, 1],
    [77, 2],
    [76, 2],
    [74, 2],
    [81, 2],
    [86, 4],
  ]
  let start = 0.1
  return tune.map(([key = 0, eighths = 0]) => {
    const note = { start, length: eighths * 0.26 * 0.95, key, velocity: 100 }
    start += eighths * 0.26
    return note
  })
}

/** A wail between 650 and 1350 Hz with a few harmonics, as of a car that does not come nearer. */
function siren(seconds: number): Sound {
  const harmonics = [1, 0.45, 0.3, 0.16, 0.08]
  let phase = 0
  const samples = Float64Array.from({ length: seconds * SAMPLE_RATE }, (_, index) => {
    const turn = ((index / SAMPLE_RATE) * 0.42) % 1
    const hertz = 650 + 700 * (1 - Math.abs(2 * turn - 1))
    phase += (2 * Math.PI * hertz) / SAMPLE_RATE
    return harmonics.reduce((sum, gain, order) => sum + gain * Math.sin((order + 1) * phase), 0)
  })
  return [samples]
}

/** The voice of espeak-ng, whose 22,050 Hz are half of ours. */
function speak(voice: string, text: string): Sound {
  const output = run('espeak-ng', ['-v', voice, '-s', '155', '--stdout', text])
  const HEADER_BYTES = 44
  const length = Math.floor((output.length - HEADER_BYTES) / 2)
  const samples = Float64Array.from({ length }, (_, i) => output.readInt16LE(HEADER_BYTES + 2 * i))
  return [doubleRate(samples)]
}

/** The part as FluidSynth plays it, in stereo with its own reverb. */
function play(part: Part): Sound {
  const folder = mkdtempSync(join(tmpdir(), 'examples-'))
  try {
    const score = join(folder, 'part.mid')
    const sound = join(folder, 'part.raw')
    writeFileSync(score, midi(part))
    run('fluidsynth', [
      '-ni',
      '-g',
      '0.5',
      '-r',
      String(SAMPLE_RATE),
      '-T',
      'raw',
      '-O',
      'float',
      '-F',
      sound,
      SOUND_FONT,
      score,
    ])
    const output = readFileSync(sound)
    const side = (offset: number) =>
      Float64Array.from({ length: Math.floor(output.length / 8) }, (_, i) =>
        output.readFloatLE(8 * i + offset),
      )
    return [side(0), side(4)]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function run(command: string, args: string[]): Buffer {
  const { error, status, stdout, stderr } = spawnSync(command, args, { maxBuffer: 1 << 28 })
  if (!error && status === 0) return stdout
  throw new Error(`${command} failed: ${error?.message ?? stderr.toString()}`)
}

// From sounds to samples

/** Inserts a sample between each two, by a windowed sinc. */
function doubleRate(samples: Float64Array): Float64Array {
  const reach = 24
  const taps = Array.from({ length: 2 * reach }, (_, index) => {
    const distance = Math.PI * (index - reach + 0.5)
    return (Math.sin(distance) / distance) * Math.cos(distance / (2 * reach)) ** 2
  })
  const between = (index: number) =>
    taps.reduce((sum, tap, offset) => sum + tap * (samples[index + offset - reach + 1] ?? 0), 0)
  return Float64Array.from({ length: 2 * samples.length }, (_, index) =>
    index % 2 === 0 ? (samples[index / 2] ?? 0) : between((index - 1) / 2),
  )
}

const toMono = (sound: Sound): Sound => {
  const [left = new Float64Array(), right = left] = sound
  return [left.map((sample, index) => (sample + (right[index] ?? 0)) / 2)]
}

/** Exactly so long, with soft ends. */
function shape(sound: Sound, seconds: number): Sound {
  const length = Math.round(seconds * SAMPLE_RATE)
  const gain = (index: number) =>
    Math.min(1, index / (0.01 * SAMPLE_RATE), (length - 1 - index) / (0.15 * SAMPLE_RATE))
  return sound.map((samples) =>
    Float64Array.from({ length }, (_, index) => (samples[index] ?? 0) * gain(index)),
  )
}

/** Scaled so that its mean square is 1: sources are then at 0 dB to each other. */
function evenLoudness(sound: Sound): Sound {
  const energy = sound.flatMap((samples) => [...samples]).reduce((sum, x) => sum + x * x, 0)
  const count = sound.reduce((sum, samples) => sum + samples.length, 0)
  return scale(sound, 1 / Math.sqrt(energy / count))
}

/** The sounds in whole 16-bit steps, at a level that brings their sum to the wanted peak. */
function round(sounds: Sound[]): Sound[] {
  const peak = sounds
    .reduce(add)
    .flatMap((samples) => [...samples])
    .reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
  return sounds.map((sound) => scale(sound, PEAK / peak).map((samples) => samples.map(Math.round)))
}

const scale = (sound: Sound, gain: number): Sound =>
  sound.map((samples) => samples.map((sample) => sample * gain))

const add = (one: Sound, other: Sound): Sound =>
  one.map((samples, channel) =>
    samples.map((sample, index) => sample + (other[channel]?.[index] ?? 0)),
  )

// File formats

/** 16-bit PCM; a sample beyond 16 bits throws. */
function wav(sound: Sound): Buffer {
  const length = sound[0]?.length ?? 0
  const frameBytes = 2 * sound.length
  const file = Buffer.alloc(44 + length * frameBytes)
  file.write('RIFF', 0)
  file.writeUInt32LE(file.length - 8, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20) // PCM
  file.writeUInt16LE(sound.length, 22)
  file.writeUInt32LE(SAMPLE_RATE, 24)
  file.writeUInt32LE(SAMPLE_RATE * frameBytes, 28)
  file.writeUInt16LE(frameBytes, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36)
  file.writeUInt32LE(length * frameBytes, 40)
  sound.forEach((samples, channel) =>
    samples.forEach((sample, index) =>
      file.writeInt16LE(sample, 44 + index * frameBytes + 2 * channel),
    ),
  )
  return file
}

/** A MIDI file of one track, at 960 ticks to the second. */
function midi({ program, channel, pan, notes }: Part): Buffer {
  const events = notes
    .flatMap(({ start, length, key, velocity }) => [
      { tick: Math.round(start * 960), bytes: [0x90 | channel, key, velocity] },
      { tick: Math.round((start + length) * 960), bytes: [0x80 | channel, key, 0] },
    ])
    .sort((a, b) => a.tick - b.tick || (a.bytes[0] ?? 0) - (b.bytes[0] ?? 0))
  const track = [0, 0xc0 | channel, program, 0, 0xb0 | channel, 10, pan]
  let tick = 0
  for (const event of events) {
    track.push(...variableLength(event.tick - tick), ...event.bytes)
    tick = event.tick
  }
  track.push(0, 0xff, 0x2f, 0)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(track.length)
  const header = [0x4d, 0x54, 0x68, 0x64, 0, 0, 0, 6, 0, 0, 0, 1, 480 >> 8, 480 & 255]
  return Buffer.concat([Buffer.from(header), Buffer.from('MTrk'), length, Buffer.from(track)])
}

/** MIDI's numbers: seven bits a byte, all but the last marked. */
const variableLength = (value: number): number[] =>
  value < 128 ? [value] : [128 | (value >> 7), value & 127] // waits here stay below 16,384 ticks

const hasTools = () =>
  ['espeak-ng', 'fluidsynth'].every((tool) => !spawnSync(tool, ['--version']).error) &&
  statSync(SOUND_FONT, { throwIfNoEntry: false }) !== undefined

if (hasTools()) {
  main(process.argv[2] ?? join(import.meta.dirname, '../..', 'examples'))
} else {
  console.error(MISSING)
  process.exitCode = 1
}
