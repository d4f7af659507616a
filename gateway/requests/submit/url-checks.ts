/** The checks, at submit, of the addresses that a client names. */

import type { PublicFetch } from '../../../shared/http/public-fetch.ts'
import type { PublicPost } from '../../webhooks/public-post.ts'
import type { Deps } from '../../deps.ts'
import type { EgressPool } from './egress-pool.ts'

/** The checks of a submit, each in a slot of its account. */
export const createUrlChecks = (
  publicFetch: Pick<PublicFetch, 'check'>,
  publicPost: Pick<PublicPost, 'check'>,
  pool: EgressPool,
): Pick<Deps, 'checkAudioUrl' | 'checkWebhookUrl'> => ({
  checkAudioUrl: (url, user) => pool.run(user, () => publicFetch.check(url, user)),
  checkWebhookUrl: (url, user) => pool.run(user, () => publicPost.check(url, user)),
})
