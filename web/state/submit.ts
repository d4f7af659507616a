/** Sends media to the service, and submits requests for it. */

import type { Client, Status, Submission } from '../../clients/typescript/client.ts'
import { ApiError } from '../../clients/typescript/errors.ts'
import { currentClient } from './credential.ts'
import type { Place, Source } from './draft.ts'
import { never, withRetries } from './retry.ts'

/** The files that this page has sent, so that the same media is not sent twice. */
const sent = new WeakMap<Blob, string>()

/**
 * Returns how to refer to the media, after uploading a file that the service does not have any
 * more.
 */
export async function placeOf(
  chosen: Source,
  client: Client,
  onProgress: (part: number) => void,
): Promise<Place> {
  if (chosen.kind === 'address') return { audio_url: chosen.url }
  if (chosen.kind === 'output') return chosen.place
  const { name, contentType, bytes } = chosen
  const before = sent.get(bytes)
  if (before !== undefined && (await isKept(before, client))) return { file_id: before }
  const fileId = await client.uploadBlob({ name, contentType, bytes }, onProgress)
  sent.set(bytes, fileId)
  return { file_id: fileId }
}

/** A file must be kept at least this long, because its request may have to wait. */
const LASTS_MS_MIN = 600_000

/** Also false for a file of somebody who was signed in before. */
async function isKept(fileId: string, client: Client): Promise<boolean> {
  try {
    const { status, expires_at: expiresAt } = await client.file(fileId)
    return status === 'uploaded' && Date.parse(expiresAt) > Date.now() + LASTS_MS_MIN
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false
    throw error
  }
}

/** A submission that can be repeated: its key tells the service that it is the same one. */
export interface Submit extends Pick<Submission, 'input' | 'metadata' | 'priority'> {
  idempotencyKey: string
}

/**
 * Returns the id of the request.
 * @throws the reason of `signal` if it fires in the meantime, in which case the request is canceled
 */
export async function submit(
  { idempotencyKey, input, metadata, priority }: Submit,
  signal: AbortSignal,
): Promise<string> {
  const client = currentClient()
  const submission = {
    input: { ...input, preview: true },
    ...(metadata && { metadata }),
    ...(priority && { priority }),
  }
  const { request_id: id } = await client.submit(submission, { idempotencyKey })
  if (signal.aborted) await cancelRequest(id, () => client)
  signal.throwIfAborted()
  return id
}

/**
 * Cancels a request, even if the service is away for a moment.
 * @param clientNow returns the client of each try
 * @returns its status; undefined if it had just ended
 */
export function cancelRequest(
  id: string,
  clientNow: () => Client = currentClient,
): Promise<Status | undefined> {
  return withRetries(() => clientNow().cancel(id), { signal: never }).catch(ignoreEnded)
}

/**
 * Ignores the refusal to cancel a request that has ended.
 * @throws any other error
 */
function ignoreEnded(error: unknown): undefined {
  if (!(error instanceof ApiError && error.status === 409)) throw error
}

export const sourceName = (chosen: Source): string =>
  chosen.kind === 'address' ? (chosen.url.split('/').pop() ?? chosen.url) : chosen.name
