/** The checks, at submit, of the addresses that a client names. */

import type { PublicFetch } from '../../../shared/http/public-fetch.ts'
import type { PublicPost } from '../../webhooks/public-post.ts'
import type { EgressPool, EgressUser } from './egress-pool.ts'

export interface UrlChecks {
  /**
   * Looks at the text of an address and its name alone: an engine asks its server.
   * @throws ServiceError `INVALID_AUDIO_URL` when it is not public; `RATE_LIMITED` when the account
   * has too many checks under way; the signal's reason
   */
  checkAudioUrl: (url: string, user: EgressUser) => Promise<void>
  /**
   * @throws ServiceError `INVALID_WEBHOOK_URL` when nothing may be posted there; `RATE_LIMITED` and
   * the signal's reason, as above
   */
  checkWebhookUrl: (url: string, user: EgressUser) => Promise<void>
}

/** The checks of a submit, each in a slot of its account. */
export const createUrlChecks = (
  publicFetch: Pick<PublicFetch, 'check'>,
  publicPost: Pick<PublicPost, 'check'>,
  pool: EgressPool,
): UrlChecks => ({
  checkAudioUrl: (url, user) => pool.run(user, () => publicFetch.check(url, user)),
  checkWebhookUrl: (url, user) => pool.run(user, () => publicPost.check(url, user)),
})
