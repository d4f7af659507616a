/** Tells clients how an attempt to post a webhook went. */

import type { PostOutcome } from './public-post.ts'

const ERROR_CHARACTERS_MAX = 500

export const isDelivered = (outcome: PostOutcome): boolean =>
  'status' in outcome && outcome.status >= 200 && outcome.status <= 299

/** The receiver takes no more webhooks. */
export const isUnwanted = (outcome: PostOutcome): boolean =>
  'status' in outcome && outcome.status === 410

/** Returns why the webhook was not delivered, or null if it was. */
export function errorOf(outcome: PostOutcome): string | null {
  return isDelivered(outcome) ? null : faultOf(outcome).slice(0, ERROR_CHARACTERS_MAX)
}

function faultOf(outcome: PostOutcome): string {
  if ('problem' in outcome) return outcome.problem
  const { status } = outcome
  if (isUnwanted(outcome)) return 'The receiver returned 410: it takes no more webhooks.'
  if (status >= 300 && status <= 399) {
    return `The receiver returned ${status}; redirects are not followed.`
  }
  return `The receiver returned ${status}; only a 2xx counts as delivered.`
}
