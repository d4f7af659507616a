/**
 * Sends requests to a Winnow service for files uploaded beforehand, and reads the server's times of
 * each.
 */

import { ApiError, createClient, type Client, type Status } from '../../clients/typescript/node.ts'
import { noise } from '../../test/support/media/signals.ts'
import { wavBytes } from '../../test/support/media/wav.ts'
import { seededRandom } from '../../test/support/basics/random.ts'
import type { Answer, Send } from './drive.ts'
import type { MixPart } from './mix.ts'

const SAMPLE_RATE = 44_100
/** Every length has several files, because a batch encodes equal chunks only once. */
const FILES = { least: 2, most: 8, audioSeconds: 240 }
const FORMAT = { name: 'load.wav', contentType: 'audio/wav' }

export interface Winnow {
  url: string
  apiKey: string | undefined
}

/** Uploads stereo noise of every length of the mix, which the requests then refer to. */
export async function prepareRequests(
  { url, apiKey }: Winnow,
  mix: readonly MixPart[],
): Promise<Send> {
  const client = createClient({ baseUrl: url, apiKey })
  const files = new Map<number, string[]>()
  for (const { seconds } of mix) files.set(seconds, await uploadVariants(client, seconds))
  const random = seededRandom(1)
  return async (audioSeconds, signal) => {
    const ofLength = files.get(audioSeconds)!
    const fileId = ofLength[Math.floor(random() * ofLength.length)]!
    const abortable = createClient({ baseUrl: url, apiKey, signal })
    return separate(abortable, { file_id: fileId, prompt: 'rain' }, signal)
  }
}

/** Kept between services, which are started one after another with the same media. */
const cache = new Map<string, Blob>()

/** Returns stereo noise; each variant is different. */
function noiseWav(seconds: number, variant: number): Blob {
  const key = `${seconds} ${variant}`
  const cached = cache.get(key)
  if (cached) return cached
  const planes = [1, 2].map((seed) => noise(seconds, SAMPLE_RATE, seed + 2 * variant))
  const blob = new Blob([Uint8Array.from(wavBytes(planes, SAMPLE_RATE))])
  cache.set(key, blob)
  return blob
}

async function uploadVariants(client: Client, seconds: number): Promise<string[]> {
  const enough = Math.ceil(FILES.audioSeconds / seconds)
  const count = Math.min(FILES.most, Math.max(FILES.least, enough))
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
    // Canceled, so that no engine computes a result that nobody reads.
    if (requestId && signal.aborted) await client.cancel(requestId).catch(() => undefined)
    return { code: error instanceof ApiError ? error.code : 'UNREACHABLE' }
  }
}

/**
 * Returns the milliseconds of each stage. Inner stages come from the server's timestamps, the outer
 * ones from the client's clock, so no difference mixes two clocks. `queue` lasts until an engine
 * starts, `read` until the media is open, `separate` until the last chunk is joined, `store` until
 * the request is COMPLETED; `notice` is the rest.
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
