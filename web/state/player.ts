/** Loads the outputs of a completed request into lanes. */

import { signal } from '@preact/signals'
import type { OutputFile, Result } from '../../clients/typescript/client.ts'
import { decode, DECODED_BYTES_MAX, sum } from '../audio/decode.ts'
import { Mixer, type Lane, type LaneKind } from '../audio/mixer.ts'
import { nullTest } from '../audio/null-test.ts'
import { currentClient } from './credential.ts'
import type { OpenRequest } from './request.ts'

export interface Loaded {
  mixer: Mixer
  result: Result
  /** The mixture is the media itself, not the sum of the outputs. */
  hasOriginal: boolean
  /** Peak of the mixture minus all targets and the residual, in dB. */
  nullTest(): Promise<number>
}

/** The file of each prompt. */
export const targetsOf = (
  { prompts }: OpenRequest,
  { data }: Result,
): { prompt: string; file: OutputFile }[] =>
  (data.targets ?? [data.target]).map((file, i) => ({ prompt: prompts[i]!, file }))

/** Whether the media is short enough to be decoded whole: the mixture and every output. */
export function isDecodable({ data }: Result): boolean {
  const lanes = 2 + (data.targets?.length ?? 1)
  return lanes * 4 * (data.duration ?? 0) * data.sample_rate * 2 <= DECODED_BYTES_MAX
}

/** @throws Error when the browser can't decode an output */
export async function load(request: OpenRequest, result: Result): Promise<Loaded> {
  const { residual, sample_rate: rate } = result.data
  const targets = await Promise.all(
    targetsOf(request, result).map(async ({ prompt, file }) =>
      lane('target', prompt, await fetchBuffer(file.url, rate), fileOf(file)),
    ),
  )
  const rest = lane('residual', 'Residual', await fetchBuffer(residual.url, rate), fileOf(residual))
  const original = await decodeOriginal(request.original, rate)
  const outputs = [...targets, rest].map(({ buffer }) => buffer)
  const mixture = original ?? (await sumOf(outputs))
  targets[0]!.isSolo.value = true
  return {
    mixer: new Mixer([lane('mixture', 'Mixture', mixture, null), ...targets, rest]),
    result,
    hasOriginal: original !== null,
    nullTest: () => nullTest(mixture, outputs),
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

const fileOf = ({ url, file_name: name }: OutputFile) => ({ url, name })

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
