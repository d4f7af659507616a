/** Calls a gateway's admin API for the commands of admins. */

import { readError } from '../../clients/typescript/errors.ts'
import type { Fleet } from '../../gateway/operations/fleet.ts'
import type { AdminModel } from '../../gateway/operations/model-schemas.ts'
import { UsageError } from './command.ts'
import { localSecret, usualUrl, type Environment } from './service-access.ts'

/** The gateway did not answer as expected. */
export class NoAnswerError extends Error {}

const ANSWER_MS_MAX = 10_000

export interface Gateway {
  url: string
  token: string
}

/** @throws UsageError */
export function readGateway(options: Partial<Gateway>, env: Environment): Gateway {
  const url = options.url ?? usualUrl(env)
  if (!URL.canParse(url)) throw new UsageError(`--url must be an address, not "${url}".`)
  const token = options.token ?? env.ADMIN_TOKEN ?? localSecret('admin-token', url, env)
  if (!token) throw new UsageError("Give the gateway's ADMIN_TOKEN, in the environment or --token.")
  return { url: url.replace(/\/+$/, ''), token }
}

/** @throws NoAnswerError */
export const readFleet = async (gateway: Gateway, signal: AbortSignal): Promise<Fleet> =>
  (await askAdmin(gateway, 'fleet', {}, signal)) as Fleet

/** Lets all engines load or unload an installed model. @throws NoAnswerError with the reason */
export async function changeModel(
  gateway: Gateway,
  { name, verb }: { name: string; verb: 'load' | 'unload' },
  signal: AbortSignal,
): Promise<AdminModel> {
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: '{}' }
  const path = `models/${encodeURIComponent(name)}/${verb}`
  return (await askAdmin(gateway, path, init, signal)) as AdminModel
}

async function askAdmin(
  { url, token }: Gateway,
  path: string,
  init: { method?: string; headers?: Record<string, string>; body?: string },
  signal: AbortSignal,
): Promise<unknown> {
  const headers = { ...init.headers, authorization: `Bearer ${token}` }
  const either = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)])
  const reply = await fetch(`${url}/admin/${path}`, { ...init, headers, signal: either }).catch(
    (cause: unknown) => {
      throw new NoAnswerError(`No answer from ${url}: is the gateway there?`, { cause })
    },
  )
  if (reply.ok) return reply.json()
  if (reply.status === 401) throw new NoAnswerError('The gateway has another ADMIN_TOKEN.')
  const said = readError(await reply.text())?.message
  if (path !== 'fleet' && said !== undefined) throw new NoAnswerError(said)
  if (reply.status === 404) {
    throw new NoAnswerError('The gateway has no admin API: set ADMIN_TOKEN there, or upgrade it.')
  }
  throw new NoAnswerError(`The gateway answered ${reply.status}.`)
}
