/** Loads the outputs of a completed request into lanes. */

import { signal } from '@preact/signals'
import type { OutputFile, Result } from '../../clients/typescript/client.ts'
import { decode, DECODED_BYTES_MAX, sum } from '../audio/decode.ts'
import { fromDb, peakOf, SILENCE_DB, toDb } from '../audio/levels.ts'
import { Mixer, type Lane, type Output } from '../audio/mixer.ts'
import { nullTest } from '../audio/null-test.ts'
import type { Finding } from './chip.ts'
import { currentClient } from './credential.ts'
import type { OutputPlace } from './draft.ts'
import { filesOf, type StoredFile } from './output-files.ts'
import type { OpenRequest } from './open-request.ts'
import { keptOf } from './chosen-task.ts'

/** The part of a result that is played, also of a shared one. */
export type PlayableResult = Pick<Result, 'data' | 'metadata'>

export interface LoadedResult {
  mixer: Mixer
  result: PlayableResult
  /** The mixture is the media itself, not the sum of the outputs. */
  hasOriginal: boolean
  /** Nothing in the media can be heard. */
  isSilent: boolean
  /** Peak of the mixture minus all targets and the residual, in dB. */
  nullTest(): Promise<number>
}

export interface NamedOutput {
  kind: 'target' | 'residual'
  label: string
  output: Output
  files: readonly StoredFile[]
  /** A target's, if its model reports one. */
  finding?: Finding | undefined
}

/**
 * The target of each prompt, and what none of them took. A target that holds something else is
 * named for that.
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
  return [...targets, { kind: 'residual', label: 'Residual', output, files }]
}

const outputOf = ({ url, file_name: name }: OutputFile, place: OutputPlace): Output => ({
  url,
  name,
  place,
})

/** Returns whether the media is short enough to be decoded whole: the mixture and every output. */
export function isDecodable({ data }: PlayableResult): boolean {
  const lanes = 2 + (data.targets?.length ?? 1)
  return lanes * 4 * (data.duration ?? 0) * data.sample_rate * 2 <= DECODED_BYTES_MAX
}

/** @throws Error when the browser can't decode an output */
export async function load(request: OpenRequest, result: PlayableResult): Promise<LoadedResult> {
  const rate = result.data.sample_rate
  const lanes = await Promise.all(
    outputsOf(request, result).map(async ({ kind, label, output, finding }) =>
      lane({ kind, label, output, finding, buffer: await fetchBuffer(output.url, rate) }),
    ),
  )
  const original = await decodeOriginal(request.original, result.data)
  const outputs = lanes.map(({ buffer }) => buffer)
  const mixture = original ?? (await sumOf(outputs))
  lanes.find(({ kind }) => kind === keptOf(result))!.isSolo.value = true
  const first = lane({ kind: 'mixture', label: 'Mixture', output: null, buffer: mixture })
  return {
    mixer: new Mixer([first, ...lanes]),
    result,
    hasOriginal: original !== null,
    isSilent: toDb(peakOf(mixture)) < SILENCE_DB,
    nullTest: () => nullTest(mixture, outputs),
  }
}

async function fetchBuffer(url: string, rate: number): Promise<AudioBuffer> {
  const reply = await currentClient().open(url)
  return decode(await reply.arrayBuffer(), rate)
}

/** At the level of the outputs. Null: this browser does not have it, or can't read it. */
async function decodeOriginal(
  original: Blob | null,
  { sample_rate: rate, gain_db: gainDb = 0 }: Result['data'],
): Promise<AudioBuffer | null> {
  if (!original) return null
  try {
    const buffer = await decode(await original.arrayBuffer(), rate)
    return gainDb === 0 ? buffer : await sum([{ buffer, gain: fromDb(gainDb) }])
  } catch {
    return null // a container that FFmpeg reads and this browser does not
  }
}

const sumOf = (buffers: readonly AudioBuffer[]): Promise<AudioBuffer> =>
  sum(buffers.map((buffer) => ({ buffer, gain: 1 })))

type KnownLane = Pick<Lane, 'kind' | 'label' | 'output' | 'buffer' | 'finding'>

const lane = (known: KnownLane): Lane => ({
  ...known,
  gainDb: signal(0),
  isMuted: signal(false),
  isSolo: signal(false),
})
