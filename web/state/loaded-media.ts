/** Loads the outputs of a completed request into lanes. */

import type { OutputFile, Peaks, Result } from '../../clients/typescript/client.ts'
import { decode, DECODED_BYTES_MAX, sum } from '../audio/decode.ts'
import { fromDb, levelOf, SILENCE_DB, toDb } from '../audio/levels.ts'
import { createLane, type LaneSound, type Output } from '../audio/lane.ts'
import { Mixer } from '../audio/mixer.ts'
import { nullTest } from '../audio/null-test.ts'
import { decodesPreviews } from '../audio/ogg.ts'
import { magnitudesOf, planesOfWaveform } from '../audio/peaks.ts'
import { segmentReader, streamedSounds, wholeSounds, type Sounds } from '../audio/sounds.ts'
import type { Finding } from './chip.ts'
import { currentClient } from './credential.ts'
import type { OutputPlace } from './draft.ts'
import { readRange } from './read-range.ts'
import { filesOf, type StoredFile } from './output-files.ts'
import type { OpenRequest } from './open-request.ts'
import { preferredOutputOf } from './chosen-task.ts'

/** The part of a result that is played, which shared results have too. */
export type PlayableResult = Pick<Result, 'data' | 'metadata'>

export interface LoadedResult {
  mixer: Mixer
  result: PlayableResult
  /** Whether the mixture is the sum of the outputs rather than the media itself. */
  isMixtureSum: boolean
  /** Whether the media itself is in this browser and short enough to be decoded. */
  hasOriginal: boolean
  /** Whether nothing in the media is audible. */
  isSilent: boolean
  /** Returns the peak of the mixture minus all targets and the residual, in dB. */
  nullTest(): Promise<number>
}

export interface NamedOutput {
  kind: 'target' | 'residual'
  label: string
  output: Output
  files: readonly StoredFile[]
  /** The finding about a target, if its model reports one. */
  finding?: Finding | undefined
}

/**
 * The target of each prompt, and the rest. A target that contains something else is named after
 * that.
 */
export function outputsOf(
  { id, prompts }: Pick<OpenRequest, 'id' | 'prompts'>,
  { data }: PlayableResult,
): NamedOutput[] {
  const labelOf = (prompt: string, i: number): string => {
    const holds = data.findings?.[i]?.holds
    return holds === undefined ? prompt : `${holds}, not “${prompt}”`
  }
  const targets = (data.targets ?? [data.target]).map((file, i): NamedOutput => ({
    kind: 'target',
    label: labelOf(prompts[i]!, i),
    output: outputOf(file, { request_id: id, output: 'target', output_index: i }),
    files: filesOf(file),
    finding: data.findings?.[i],
  }))
  const place: OutputPlace = { request_id: id, output: 'residual' }
  const output = outputOf(data.residual, place)
  const files = filesOf(data.residual)
  return [...targets, { kind: 'residual', label: 'The rest', output, files }]
}

const outputOf = ({ url, file_name: name }: OutputFile, place: OutputPlace): Output => ({
  url,
  name,
  place,
})

/** Whether the media is short enough to decode the mixture and every output completely. */
export function isDecodable({ data }: PlayableResult): boolean {
  const lanes = 2 + (data.targets?.length ?? 1)
  return lanes * 4 * (data.duration ?? 0) * data.sample_rate * 2 <= DECODED_BYTES_MAX
}

/**
 * Streams the preview if there is one that this browser can decode; otherwise decodes everything.
 * @returns null if that would not fit into memory
 * @throws Error if the browser cannot decode an output
 */
export async function load(
  request: OpenRequest,
  result: PlayableResult,
  readPeaks: () => Promise<Peaks>,
): Promise<LoadedResult | null> {
  const { preview_url: url } = result.data
  const peaks = url !== undefined && decodesPreviews() ? await readPeaks() : undefined
  const decodeAll = memo(() => decodeLanes(request, result))
  if (url !== undefined && peaks?.preview) {
    const { preview: index } = peaks
    const waveforms = [peaks.mixture, ...peaks.targets, peaks.residual]
    const gain = fromDb(result.data.gain_db ?? 0)
    const lanes = waveforms.map((waveform, i) => ({
      drawn: planesOfWaveform(waveform),
      peak: gain * index.levels[i]!.peak,
      loudness: gain * index.levels[i]!.loudness,
    }))
    const read = segmentReader(index, (from, to) => readRange(url, from, to))
    const sounds = streamedSounds({ index, gain, read })
    return loadedOf(request, result, { sounds, lanes, decodeAll, isStreamed: true })
  }
  if (!isDecodable(result)) return null
  const { buffers } = await decodeAll()
  const lanes = buffers.map((buffer) => ({ drawn: magnitudesOf(buffer), ...levelOf(buffer) }))
  const sounds = wholeSounds(buffers)
  return loadedOf(request, result, { sounds, lanes, decodeAll, isStreamed: false })
}

/** Calls once and remembers the result, unless the call failed. */
function memo<T>(call: () => Promise<T>): () => Promise<T> {
  let called: Promise<T> | undefined
  return () => {
    const current = (called ??= call())
    current.catch(() => (called = undefined))
    return current
  }
}

interface DecodedLanes {
  /** The mixture and all outputs. */
  buffers: readonly AudioBuffer[]
  /** Whether the mixture is the media itself rather than the sum of the outputs. */
  hasOriginal: boolean
}

async function decodeLanes(request: OpenRequest, result: PlayableResult): Promise<DecodedLanes> {
  const rate = result.data.sample_rate
  const fetching = outputsOf(request, result).map(({ output }) => fetchBuffer(output.url, rate))
  const outputs = await Promise.all(fetching)
  const original = await decodeOriginal(request.original, result.data)
  return {
    buffers: [original ?? (await sumOf(outputs)), ...outputs],
    hasOriginal: original !== null,
  }
}

interface Playable {
  sounds: Sounds
  lanes: readonly LaneSound[]
  decodeAll: () => Promise<DecodedLanes>
  isStreamed: boolean
}

async function loadedOf(
  request: OpenRequest,
  result: PlayableResult,
  { sounds, lanes: measured, decodeAll, isStreamed }: Playable,
): Promise<LoadedResult> {
  const mixture = { kind: 'mixture' as const, label: 'Mixture', output: null }
  const lanes = [mixture, ...outputsOf(request, result)].map((named, i) =>
    createLane(named, measured[i]!),
  )
  lanes.find(({ kind }) => kind === preferredOutputOf(result))!.isSolo.value = true
  const lossless = async () => (await decodeAll()).buffers
  return {
    mixer: new Mixer(lanes, sounds, isDecodable(result) ? lossless : null),
    result,
    isMixtureSum: !isStreamed && !(await decodeAll()).hasOriginal,
    hasOriginal: request.original !== null && isDecodable(result),
    isSilent: toDb(measured[0]!.peak) < SILENCE_DB,
    async nullTest() {
      const { buffers, hasOriginal } = await decodeAll()
      if (!hasOriginal) throw new Error("This browser can't read the source.")
      return nullTest(buffers[0]!, buffers.slice(1))
    },
  }
}

async function fetchBuffer(url: string, rate: number): Promise<AudioBuffer> {
  const reply = await currentClient().open(url)
  return decode(await reply.arrayBuffer(), rate)
}

/** At the level of the outputs. Null if this browser does not have the media or cannot read it. */
async function decodeOriginal(
  original: Blob | null,
  { sample_rate: rate, gain_db: gainDb = 0 }: Result['data'],
): Promise<AudioBuffer | null> {
  if (!original) return null
  try {
    const buffer = await decode(await original.arrayBuffer(), rate)
    return gainDb === 0 ? buffer : await sum([{ buffer, gain: fromDb(gainDb) }])
  } catch {
    return null // FFmpeg can read this container, but this browser cannot
  }
}

const sumOf = (buffers: readonly AudioBuffer[]): Promise<AudioBuffer> =>
  sum(buffers.map((buffer) => ({ buffer, gain: 1 })))
