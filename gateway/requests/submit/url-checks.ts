/** Checks the addresses that a client names in a submit. */

import type { PublicFetch } from '../../../shared/http/public-fetch.ts'
import type { PublicPost, UrlParam } from '../../webhooks/public-post.ts'
import type { EgressPool, EgressUser } from './egress-pool.ts'

export interface UrlChecks {
  /**
   * Checks only the text of an address and its host name. Whether its server answers is left to an
   * engine.
   * @throws ServiceError `INVALID_AUDIO_URL` if the address is not public; `RATE_LIMITED` if the
   *   account has too many checks in progress; the signal's reason
   */
  checkAudioUrl: (url: string, user: EgressUser) => Promise<void>
  /**
   * @throws ServiceError `INVALID_WEBHOOK_URL` if nothing may be posted there; `RATE_LIMITED` and
   *   the signal's reason, as above
   */
  checkWebhookUrl: (url: string, user: EgressUser & { param?: UrlParam }) => Promise<void>
}

/** Creates the checks of a submit, each of which takes a slot of the account. */
export const createUrlChecks = (
  publicFetch: Pick<PublicFetch, 'check'>,
  publicPost: Pick<PublicPost, 'check'>,
  pool: EgressPool,
): UrlChecks => ({
  checkAudioUrl: (url, user) => pool.run(user, () => publicFetch.check(url, user)),
  checkWebhookUrl: (url, user) => pool.run(user, () => publicPost.check(url, user)),
})
