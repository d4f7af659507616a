/** The requests that the page shows together: one source, a request for each prompt. */

import { signal, type Signal } from '@preact/signals'
import type { Client, Status } from '../../clients/typescript/client.ts'
import { createTimer } from '../audio/time-left.ts'
import { currentClient, messageOf } from './credential.ts'
import { givenPrompts, inputOf, source, type Source } from './draft.ts'
import { keepSource, loadSource } from './kept-sources.ts'

export interface OpenRequest {
  id: string
  prompt: string
  status: Signal<Status | null>
  /** Why it can't be followed. */
  problem: Signal<string>
  /** Seconds, as far as progress shows. */
  secondsLeft: Signal<number | null>
}

export interface Group {
  name: string
  /** The media itself, where this browser has it. */
  original: Blob | null
  requests: OpenRequest[]
}

/** What is shown; null: the form alone. */
export const group = signal<Group | null>(null)
/** What happens before there are requests. */
export const sending = signal<{ part: number; abort: AbortController } | null>(null)
export const sendProblem = signal('')

/** Uploads the source and submits a request for each prompt. */
export async function separate(): Promise<void> {
  const chosen = source.value
  if (!chosen) return
  const abort = new AbortController()
  sending.value = { part: 0, abort }
  sendProblem.value = ''
  try {
    const client = currentClient(abort.signal)
    const place = await placeOf(chosen, client, (part) => (sending.value = { part, abort }))
    const requests: OpenRequest[] = []
    for (const prompt of givenPrompts()) {
      const { request_id: id } = await client.submit(
        { input: inputOf(prompt, place) },
        { idempotencyKey: randomKey() },
      )
      requests.push(opened(id, prompt))
    }
    const original = chosen.kind === 'file' ? chosen.bytes : null
    if (original) await keepSource(requests[0]!.id, original)
    show({ name: nameOf(chosen), original, requests })
  } catch (error) {
    if (!abort.signal.aborted) sendProblem.value = messageOf(error)
  } finally {
    sending.value = null
  }
}

/** Hexadecimal; `randomUUID` is only there over HTTPS and on localhost. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

async function placeOf(chosen: Source, client: Client, onProgress: (part: number) => void) {
  if (chosen.kind === 'address') return { audio_url: chosen.url }
  const { name, contentType, bytes } = chosen
  return { file_id: await client.uploadBlob({ name, contentType, bytes }, onProgress) }
}

const nameOf = (chosen: Source): string =>
  chosen.kind === 'file' ? chosen.name : (chosen.url.split('/').pop() ?? chosen.url)

const opened = (id: string, prompt: string): OpenRequest => ({
  id,
  prompt,
  status: signal(null),
  problem: signal(''),
  secondsLeft: signal(null),
})

/** Shows requests of the account by their ids, as the address or the history names them. */
export async function openRequests(ids: readonly string[]): Promise<void> {
  const { data } = await currentClient().list({ limit: 100 })
  const listed = ids.map((id) => data.find(({ request_id: other }) => other === id))
  show({
    name: listed[0]?.file_name ?? 'Request',
    original: await loadSource(ids[0]!),
    requests: ids.map((id, i) => opened(id, listed[i]?.prompt ?? 'target')),
  })
}

/** Goes on with the requests that the address names, after a reload. */
export async function openFromAddress(): Promise<void> {
  const ids = new URLSearchParams(location.hash.slice(1)).get('requests')?.split(',') ?? []
  if (ids.length === 0) return
  await openRequests(ids).catch((error: unknown) => (sendProblem.value = messageOf(error)))
}

let following = new AbortController()

function show(next: Group): void {
  close()
  group.value = next
  const ids = next.requests.map(({ id }) => id).join(',')
  history.replaceState(null, '', `#requests=${ids}`)
  for (const request of next.requests) void follow(request, following.signal)
}

/** Back to the form; the requests go on. */
export function close(): void {
  following.abort()
  following = new AbortController()
  group.value = null
  history.replaceState(null, '', location.pathname)
}

async function follow(request: OpenRequest, signal: AbortSignal): Promise<void> {
  const secondsLeft = createTimer()
  try {
    for await (const status of currentClient(signal).follow(request.id, { logs: true })) {
      request.status.value = status
      request.secondsLeft.value = secondsLeft(status.progress, performance.now())
    }
  } catch (error) {
    if (!signal.aborted) request.problem.value = messageOf(error)
  }
}

export async function cancel(request: OpenRequest): Promise<void> {
  try {
    request.status.value = await currentClient().cancel(request.id)
  } catch (error) {
    request.problem.value = messageOf(error)
  }
}
