/** A shared result, in a page that was opened by its address. */

import { signal } from '@preact/signals'
import { createClient, type NewShare, type SharedResult } from '../../clients/typescript/client.ts'
import type { PlayableResult } from './loaded-media.ts'
import type { OpenRequest } from './open-request.ts'
import { parameters } from './address.ts'
import { preferredOutputOf } from './chosen-task.ts'
import { SERVICE } from './service.ts'

export interface SharedView {
  request: OpenRequest
  result: PlayableResult
  /** Address of its peaks, if it has any. */
  peaksUrl: string | undefined
  expiresAt: string
}

/**
 * The secret in `#share=…`, which stays in the address; null if the page shows no shared result.
 */
export const secretInAddress = (): string | null => parameters().get('share')

/** @throws ApiError; UnreachableError */
export async function readShared(secret: string): Promise<SharedView> {
  const shared = await createClient({ baseUrl: SERVICE, apiKey: secret }).shared()
  const keeps = parameters().get(KEEPS)
  return {
    request: requestOf(shared),
    result: { data: shared.data, ...(keeps !== null && { metadata: { [KEEPS]: keeps } }) },
    peaksUrl: shared.peaks_url,
    expiresAt: shared.expires_at,
  }
}

const requestOf = ({ file_name: name, prompts }: SharedResult): OpenRequest => ({
  id: '',
  name,
  prompts,
  original: null,
  status: signal(null),
  problem: signal(''),
  retryAt: signal(null),
})

const KEEPS = 'keeps'

/** The address of a new share, including which output plays first. */
export function addressOf({ url }: NewShare, result: PlayableResult): string {
  const kept = preferredOutputOf(result)
  return kept === 'target' ? url : `${url}&${KEEPS}=${kept}`
}
