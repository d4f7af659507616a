/**
 * Reads songs with their stems, in stereo at 44.1 kHz, and measures how close an estimate is to a
 * stem.
 */

import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { openMixture } from '../../../engine/media/read/decode.ts'
import { pythonPackages } from '../packages/python-packages.ts'
import { concatenate, type Planes } from './signals.ts'

export const SONG_RATE = 44_100

const LIMITS = { mediaSecondsMax: 600, channelsMax: 2, sampleRate: SONG_RATE }
/** Tracks of the excerpt; the first is the mixture. */
const TRACKS = ['mixture', 'drums', 'bass', 'other', 'vocals']
/** Words in a file name that tell what the file holds. */
const STEMS = ['vocals', 'drums', 'bass']

export interface Song {
  name: string
  /** The sum of all stems. */
  mixture: Planes
  /** Each stem by the prompt that asks for it. */
  stems: ReadonlyMap<string, Planes>
}

/**
 * Reads the excerpt that the Python package stempeg includes for tests: six seconds of "Falcon 69"
 * by The Easton Ellises (CC BY-NC-SA 3.0), from the test songs of MUSDB18.
 * @throws Error if the package can't be fetched
 */
export async function readExcerpt(): Promise<Song> {
  const folder = join(await pythonPackages('stempeg==0.2.6'), 'stempeg/data')
  const name = readdirSync(folder).find((file) => file.endsWith('.stem.mp4'))!
  const stems = new Map<string, Planes>()
  for (const [i, stem] of TRACKS.entries()) {
    if (i > 0) stems.set(stem, await read(join(folder, name), i + 1))
  }
  return { name: basename(name, '.stem.mp4'), mixture: sum([...stems.values()]), stems }
}

/**
 * Reads a folder that holds the stems of one song, all of the same length, and nothing else. The
 * prompt for a file names whichever of "vocals", "drums" and "bass" are in its name; a file with
 * none of them has no prompt.
 */
export async function readSong(folder: string): Promise<Song> {
  const stems = new Map<string, Planes>()
  const all: Planes[] = []
  for (const file of readdirSync(folder).sort()) {
    const planes = await read(join(folder, file), 1)
    const named = STEMS.filter((stem) => file.toLowerCase().includes(stem))
    if (named.length > 0) stems.set(named.join(' and '), planes)
    all.push(planes)
  }
  return { name: basename(folder), mixture: sum(all), stems }
}

async function read(file: string, track: number): Promise<Planes> {
  const mixture = await openMixture(file, { ...LIMITS, track })
  const blocks: Planes[] = []
  for await (const block of mixture.blocks()) blocks.push(block)
  return joinPlanes(blocks)
}

/** Joins consecutive blocks of stereo. */
export const joinPlanes = (blocks: readonly Planes[]): Float32Array[] =>
  [0, 1].map((c) => concatenate(blocks.map((block) => block[c] ?? new Float32Array(0))))

export const sum = (all: readonly Planes[]): Float32Array[] =>
  [0, 1].map((c) =>
    all[0]![c]!.map((_, i) => all.reduce((total, planes) => total + planes[c]![i]!, 0)),
  )

export const less = (whole: Planes, part: Planes): Float32Array[] =>
  whole.map((plane, c) => plane.map((x, i) => x - part[c]![i]!))

/**
 * SDR in dB: 10 log10(sum s² / sum (s - estimate)²), over all channels and samples. Unlike museval,
 * it uses neither windows nor filters.
 */
export function sdr(truth: Planes, estimate: Planes): number {
  const power = (planes: Planes) =>
    planes.reduce((total, plane) => plane.reduce((all, x) => all + x * x, total), 0)
  return 10 * Math.log10(power(truth) / power(less(truth, estimate)))
}
