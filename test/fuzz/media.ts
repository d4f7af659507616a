/**
 * Feeds damaged media files to the engine's decoder: each must be read, or refused with a code. None
 * may crash the process or exceed its limits.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LimitError } from '../../engine/media/process/limited-process.ts'
import { SoundProcess, type NextBlock } from '../../engine/media/process/sound-process.ts'
import { ServiceError } from '../../shared/errors.ts'
import { type AudioTrack, makeMedia, type Tracks } from '../support/media/make-media.ts'
import { fc } from '../support/basics/property.ts'
import { noise, sine } from '../support/media/signals.ts'
import { mutate, mutation, type Mutation } from './mutations.ts'
import type { FuzzOptions, FuzzResult } from './result.ts'

/** FFmpeg's names of a container and an encoder. */
const SOUNDS = [
  ...['wav pcm_s16le', 'wav pcm_s24le', 'w64 pcm_s16le', 'aiff pcm_s16be', 'au pcm_s16be'],
  ...['caf pcm_s16be', 'flac flac', 'ogg flac', 'ogg libvorbis', 'ogg libopus', 'webm libopus'],
  ...[
    'mp3 libmp3lame',
    'mp2 mp2',
    'adts aac',
    'latm aac',
    'ipod aac',
    'ipod alac',
    'mov pcm_s16le',
  ],
  ...['mp4 aac', 'matroska libmp3lame', 'matroska aac', 'avi libmp3lame', 'asf wmav2', 'flv aac'],
  ...['mpegts aac', 'mpeg mp2', 'ac3 ac3', 'eac3 eac3', 'tta tta', 'wv wavpack', 'nut flac'],
]
const WITH_PICTURES = [
  'mp4 aac libx264',
  'matroska aac libx264',
  'avi libmp3lame mpeg4',
  'mpegts aac libx264',
]

/** Recordings that are concatenated into one file. */
const JOINED = [
  ['ogg libvorbis', 'ogg libopus', 'ogg flac'],
  ['mpegts aac libx264', 'mpegts aac libx264'],
  ['flv aac', 'flv aac'],
]

const LIMITS = { bytesMax: 4 * 2 ** 30, secondsMax: 60, niceness: 0 }
const MIXTURE_LIMITS = { mediaSecondsMax: 600, channelsMax: 8, sampleRate: null }
const MUTATIONS_MAX = 6

interface Original {
  name: string
  bytes: Buffer
}

/** @returns the number of cases by outcome; @throws fast-check's error, with its seed */
export async function fuzzMedia({ cases, seed, onCase }: FuzzOptions): Promise<FuzzResult> {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-fuzz-'))
  const reader = new Reader(folder)
  const ends: Record<string, number> = {}
  try {
    const originals = await makeOriginals(folder)
    const property = fc.asyncProperty(
      fc.constantFrom(...originals),
      fc.array(mutation, { minLength: 1, maxLength: MUTATIONS_MAX }),
      async (original: Original, mutations: Mutation[]) => {
        const end = await reader.read(mutate(original.bytes, mutations))
        ends[end] = (ends[end] ?? 0) + 1
        onCase?.(end)
      },
    )
    await fc.assert(property, { seed, numRuns: cases })
    return { seed, cases, ends }
  } finally {
    reader.close()
    rmSync(folder, { recursive: true })
  }
}

async function makeOriginals(folder: string): Promise<Original[]> {
  const originals: Original[] = []
  for (const name of [...SOUNDS, ...WITH_PICTURES]) {
    const [container, encoder, pictures] = name.split(' ') as [string, string, string?]
    const path = join(folder, 'original')
    await makeMedia(path, container, tracksOf(encoder, pictures))
    originals.push({ name, bytes: readFileSync(path) })
  }
  const joined = JOINED.map((names) => ({
    name: names.join(' + '),
    bytes: Buffer.concat(names.map((name) => originals.find((made) => made.name === name)!.bytes)),
  }))
  const path = join(folder, 'original')
  const { audio } = tracksOf('pcm_s16le') as { audio: AudioTrack }
  const microphones = audio.planes.map((plane) => ({ ...audio, planes: [plane] }))
  await makeMedia(path, 'mov', { audio: microphones })
  return [...originals, ...joined, { name: 'two tracks', bytes: readFileSync(path) }]
}

function tracksOf(encoder: string, pictures?: string): Tracks {
  const sampleRate = encoder === 'libopus' ? 48_000 : 44_100
  const planes = [sine(440, 0.4, sampleRate), noise(0.4, sampleRate)]
  const video = pictures ? { video: { seconds: 0.4, encoder: pictures } } : {}
  return { audio: { planes, sampleRate, encoder }, ...video }
}

/** Reads files one after another in a process; starts a new process when the last has ended. */
class Reader {
  readonly #folder: string
  #process: SoundProcess | null = null

  constructor(folder: string) {
    this.#folder = folder
  }

  /** @returns `read`, or the code that refuses the file; @throws LimitError, or any unexpected error */
  async read(bytes: Buffer): Promise<string> {
    const path = join(this.#folder, 'mutated')
    writeFileSync(path, bytes)
    if (this.#process?.hasEnded !== false) {
      this.#process = new SoundProcess(LIMITS, this.#folder)
    }
    const secondsMax = MIXTURE_LIMITS.mediaSecondsMax
    const measured = await refusalOr(this.#process.call({ do: 'measure', path, secondsMax }))
    const decoded = await refusalOr(this.#decode(path))
    return decoded ?? measured ?? 'read'
  }

  close(): void {
    this.#process?.close()
  }

  async #decode(path: string): Promise<void> {
    const process = this.#process!
    await process.call({ do: 'open', path, limits: MIXTURE_LIMITS })
    try {
      while ((await process.call<NextBlock>({ do: 'next' })).samples > 0);
    } finally {
      if (!process.hasEnded) await process.call({ do: 'close' })
    }
  }
}

/** Returns the code with which `work` refuses the file, or null if it succeeds. */
async function refusalOr(work: Promise<unknown>): Promise<string | null> {
  try {
    await work
    return null
  } catch (error) {
    if (error instanceof ServiceError && !(error.cause instanceof LimitError)) return error.code
    throw error
  }
}
