/** Loads the outputs of completed requests into lanes. */

import type { Result } from '../../clients/typescript/client.ts'
import { decode, DECODED_BYTES_MAX, sum } from '../audio/decode.ts'
import { signal } from '@preact/signals'
import { Mixer, type Lane, type LaneKind } from '../audio/mixer.ts'
import { nullTest } from '../audio/null-test.ts'
import { currentClient } from './credential.ts'
import type { Group } from './requests.ts'

export interface Separated {
  prompt: string
  result: Result
}

export interface Loaded {
  mixer: Mixer
  results: readonly Separated[]
  /** The mixture is the media itself, not the sum of the outputs. */
  hasOriginal: boolean
  /** Peak of the mixture minus target and residual, in dB; of several requests, the worst. */
  nullTest(): Promise<number>
}

/** The results of those requests that are completed. */
export const resultsOf = ({ requests }: Group): Promise<Separated[]> =>
  Promise.all(
    requests
      .filter(({ status }) => status.value?.status === 'COMPLETED')
      .map(async ({ id, prompt }) => ({ prompt, result: await currentClient().result(id) })),
  )

/** Whether the media is short enough to be decoded whole. */
export function isDecodable(results: readonly Separated[]): boolean {
  const bytes = results.map(
    ({ result: { data } }) => 3 * 4 * (data.duration ?? 0) * data.sample_rate * 2,
  )
  return bytes.reduce((a, b) => a + b, 0) <= DECODED_BYTES_MAX
}

/** @throws Error when the browser can't decode an output */
export async function load(group: Group, results: readonly Separated[]): Promise<Loaded> {
  const rate = results[0]!.result.data.sample_rate
  const fetched = await Promise.all(
    results.map(async ({ prompt, result: { data } }) => ({
      prompt,
      target: await fetchBuffer(data.target.url, rate),
      residual: await fetchBuffer(data.residual.url, rate),
      data,
    })),
  )
  const original = await decodeOriginal(group.original, rate)
  const first = fetched[0]!
  const mixture = original ?? (await sumOf([first.target, first.residual]))
  const targets = fetched.map(({ prompt, target, data }) =>
    lane('target', prompt, target, fileOf(data.target)),
  )
  const residual =
    fetched.length === 1
      ? lane('residual', 'Residual', first.residual, fileOf(first.data.residual))
      : lane('residual', 'Rest of all', await restOf(mixture, targets), null)
  targets[0]!.isSolo.value = true
  return {
    mixer: new Mixer([lane('mixture', 'Mixture', mixture, null), ...targets, residual]),
    results,
    hasOriginal: original !== null,
    async nullTest() {
      const peaks = await Promise.all(
        fetched.map(({ target, residual: rest }) => nullTest(mixture, [target, rest])),
      )
      return Math.max(...peaks)
    },
  }
}

async function fetchBuffer(url: string, rate: number): Promise<AudioBuffer> {
  const reply = await currentClient().open(url)
  return decode(await reply.arrayBuffer(), rate)
}

/** Null: this browser does not have it, or can't read it. */
async function decodeOriginal(original: Blob | null, rate: number): Promise<AudioBuffer | null> {
  if (!original) return null
  try {
    return await decode(await original.arrayBuffer(), rate)
  } catch {
    return null // a container that FFmpeg reads and this browser does not
  }
}

const sumOf = (buffers: readonly AudioBuffer[]): Promise<AudioBuffer> =>
  sum(buffers.map((buffer) => ({ buffer, gain: 1 })))

/** What none of the targets took. */
const restOf = (mixture: AudioBuffer, targets: readonly Lane[]): Promise<AudioBuffer> =>
  sum([{ buffer: mixture, gain: 1 }, ...targets.map(({ buffer }) => ({ buffer, gain: -1 }))])

const fileOf = ({ url, file_name: name }: { url: string; file_name: string }) => ({ url, name })

const lane = (
  kind: LaneKind,
  label: string,
  buffer: AudioBuffer,
  download: Lane['download'],
): Lane => ({
  kind,
  label,
  buffer,
  download,
  gainDb: signal(0),
  isMuted: signal(false),
  isSolo: signal(false),
})
