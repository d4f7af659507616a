/** Requests to a Winnow for files that are there, and what the server notes of each. */

import { ApiError, createClient, type Client, type Status } from '../../clients/typescript/node.ts'
import { noise } from '../../test/support/media/signals.ts'
import { wavBytes } from '../../test/support/media/wav.ts'
import { seededRandom } from '../../test/support/basics/random.ts'
import type { Answer, Send } from './drive.ts'
import type { MixPart } from './mix.ts'

const SAMPLE_RATE = 44_100
/** Chunks of the same sound in one batch are encoded once: so every length has several files. */
const FILES = { least: 2, most: 8, audioSeconds: 240 }
const FORMAT = { name: 'load.wav', contentType: 'audio/wav' }

export interface Winnow {
  url: string
  apiKey: string | undefined
}

export interface RequestOptions {
  /** The options of every submit, besides its source and prompt. */
  input?: Readonly<Record<string, unknown>>
}

/** Uploads stereo noise of every length of the mix; the requests then name these files. */
export async function prepareRequests(
  { url, apiKey }: Winnow,
  mix: readonly MixPart[],
  { input = {} }: RequestOptions = {},
): Promise<Send> {
  const client = createClient({ baseUrl: url, apiKey })
  const files = new Map<number, string[]>()
  for (const { seconds } of mix) files.set(seconds, await uploadVariants(client, seconds))
  const random = seededRandom(1)
  return async (audioSeconds, signal) => {
    const ofLength = files.get(audioSeconds)!
    const fileId = ofLength[Math.floor(random() * ofLength.length)]!
    const own = createClient({ baseUrl: url, apiKey, signal })
    return separate(own, { ...input, file_id: fileId, prompt: 'rain' }, signal)
  }
}

/** Made once: services are started one after another, with the same media. */
const made = new Map<string, Blob>()

/** Media of stereo noise; every variant is another. */
function noiseWav(seconds: number, variant: number): Blob {
  const key = `${seconds} ${variant}`
  const known = made.get(key)
  if (known) return known
  const planes = [1, 2].map((seed) => noise(seconds, SAMPLE_RATE, seed + 2 * variant))
  const blob = new Blob([Uint8Array.from(wavBytes(planes, SAMPLE_RATE))])
  made.set(key, blob)
  return blob
}

async function uploadVariants(client: Client, seconds: number): Promise<string[]> {
  const wanted = Math.ceil(FILES.audioSeconds / seconds)
  const count = Math.min(FILES.most, Math.max(FILES.least, wanted))
  const ids: string[] = []
  for (let variant = 0; variant < count; variant += 1) {
    ids.push(await client.uploadBlob({ ...FORMAT, bytes: noiseWav(seconds, variant) }))
  }
  return ids
}

type Input = Parameters<Client['submit']>[0]['input']

async function separate(client: Client, input: Input, signal: AbortSignal): Promise<Answer> {
  const startedAt = performance.now()
  let requestId: string | null = null
  try {
    const submitted = await client.submit({ input })
    requestId = submitted.request_id
    const submitMs = performance.now() - startedAt
    const statuses: Status[] = []
    for await (const status of client.follow(submitted, { logs: true })) statuses.push(status)
    const last = statuses.at(-1)!
    if (last.status === 'FAILED') return { code: last.error?.code ?? 'FAILED' }
    return {
      code: 'COMPLETED',
      stages: stagesOf(statuses, submitMs, performance.now() - startedAt),
    }
  } catch (error) {
    // Cancels it, so that no engine computes for nobody.
    if (requestId && signal.aborted) await client.cancel(requestId).catch(() => undefined)
    return { code: error instanceof ApiError ? error.code : 'UNREACHABLE' }
  }
}

/**
 * Milliseconds from the server's own marks, with the client's at both ends: no difference is of two
 * clocks. `queue` lasts until an engine starts, `read` until the media is open, `separate` until
 * the last chunk is joined, `store` until the request is COMPLETED; `notice` is what remains.
 */
export function stagesOf(
  statuses: readonly Status[],
  submitMs: number,
  latencyMs: number,
): Record<string, number> {
  const last = statuses.at(-1)!
  const at = (text: string | undefined) => Date.parse(text ?? '')
  const logs = last.logs ?? []
  const marks = {
    queue: at(statuses.find(({ status }) => status === 'IN_PROGRESS')?.updated_at),
    read: at(logs[0]?.timestamp),
    separate: at(logs.find(({ message }) => message.startsWith('Separated '))?.timestamp),
    store: at(last.updated_at),
  }
  const stages: Record<string, number> = { submit: submitMs }
  let reachedAt = at(last.created_at)
  for (const [name, markedAt] of Object.entries(marks)) {
    if (!Number.isFinite(markedAt)) continue // its time is part of the next
    stages[name] = Math.max(0, markedAt - reachedAt)
    reachedAt = Math.max(reachedAt, markedAt)
  }
  const atServer = at(last.updated_at) - at(last.created_at)
  return { ...stages, notice: Math.max(0, latencyMs - submitMs - atServer) }
}
