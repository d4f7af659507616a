/** How the commands of operators reach a gateway's admin API. */

import type { Fleet } from '../../gateway/operations/fleet.ts'
import { UsageError } from './command.ts'
import { localSecret, usualUrl, type Environment } from './service-access.ts'

/** The gateway gave no answer that helps. */
export class NoAnswerError extends Error {}

const ANSWER_MS_MAX = 10_000

export interface Gateway {
  url: string
  token: string
}

/** @throws UsageError */
export function readGateway(given: Partial<Gateway>, env: Environment): Gateway {
  const url = given.url ?? usualUrl(env)
  if (!URL.canParse(url)) throw new UsageError(`--url must be an address, not "${url}".`)
  const token = given.token ?? env.ADMIN_TOKEN ?? localSecret('admin-token', url, env)
  if (!token) throw new UsageError("Give the gateway's ADMIN_TOKEN, in the environment or --token.")
  return { url: url.replace(/\/+$/, ''), token }
}

/** @throws NoAnswerError */
export async function readFleet({ url, token }: Gateway, signal: AbortSignal): Promise<Fleet> {
  const headers = { authorization: `Bearer ${token}` }
  const either = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)])
  const reply = await fetch(`${url}/admin/fleet`, { headers, signal: either }).catch(
    (cause: unknown) => {
      throw new NoAnswerError(`No answer from ${url}: is the gateway there?`, { cause })
    },
  )
  if (reply.ok) return (await reply.json()) as Fleet
  if (reply.status === 401) throw new NoAnswerError('The gateway has another ADMIN_TOKEN.')
  if (reply.status === 404) {
    throw new NoAnswerError('The gateway has no admin API: set ADMIN_TOKEN there, or upgrade it.')
  }
  throw new NoAnswerError(`The gateway answered ${reply.status}.`)
}
