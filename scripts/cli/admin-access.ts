/** Calls a gateway's admin API for the commands of admins. */

import { text } from 'node:stream/consumers'
import { readError } from '../../clients/typescript/errors.ts'
import type { Fleet } from '../../gateway/operations/fleet.ts'
import type { AdminModel } from '../../gateway/operations/model-schemas.ts'
import { request, type RequestOptions } from '../../shared/http/http-request.ts'
import { readSettings } from '../../shared/process/settings.ts'
import { loadTls, readTlsFiles, type TlsFiles } from '../../shared/process/tls-files.ts'
import { UsageError } from './command.ts'
import { localSecret, usualAdminUrl, type Environment } from './service-access.ts'

/** The gateway did not answer as expected. */
export class NoAnswerError extends Error {}

const ANSWER_MS_MAX = 10_000
const WAITS = {
  connectMsMax: ANSWER_MS_MAX,
  firstByteMsMax: ANSWER_MS_MAX,
  silenceMsMax: ANSWER_MS_MAX,
}

export interface Gateway {
  url: string
  token: string
  /** Of INTERNAL_TLS_CERT and so on, which gateways show to their admins, and admins to them. */
  tlsFiles: TlsFiles
}

/** @throws UsageError */
export function readGateway(
  options: { url?: string | undefined; token?: string | undefined },
  env: Environment,
): Gateway {
  const url = options.url ?? usualAdminUrl(env)
  if (!URL.canParse(url)) throw new UsageError(`--url must be an address, not "${url}".`)
  const token = options.token ?? env.ADMIN_TOKEN ?? localSecret('admin-token', url, env)
  if (!token) throw new UsageError("Give the gateway's ADMIN_TOKEN, in the environment or --token.")
  const tlsFiles = readSettings(env, readTlsFiles)
  return { url: url.replace(/\/+$/, ''), token, tlsFiles }
}

/** @throws NoAnswerError */
export const readFleet = async (gateway: Gateway, signal: AbortSignal): Promise<Fleet> =>
  (await askAdmin(gateway, 'fleet', {}, signal)) as Fleet

/**
 * Lets all engines load or unload an installed model.
 * @throws NoAnswerError with the reason
 */
export async function changeModel(
  gateway: Gateway,
  { name, verb }: { name: string; verb: 'load' | 'unload' },
  signal: AbortSignal,
): Promise<AdminModel> {
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: Buffer.from('{}') } as const
  const path = `models/${encodeURIComponent(name)}/${verb}`
  return (await askAdmin(gateway, path, init, signal)) as AdminModel
}

async function askAdmin(
  { url, token, tlsFiles }: Gateway,
  path: string,
  init: Pick<RequestOptions, 'method' | 'headers' | 'body'>,
  signal: AbortSignal,
): Promise<unknown> {
  const tls = await loadTls(tlsFiles)
  const headers = { ...init.headers, authorization: `Bearer ${token}` }
  const either = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)])
  const options = { ...init, headers, waits: WAITS, signal: either, tls }
  const { status, said } = await answerOf(`${url}/admin/${path}`, options).catch(
    (cause: unknown) => {
      throw new NoAnswerError(`No answer from ${url}${reasonOf(cause)}`, { cause })
    },
  )
  if (status === 200 || status === 202) return JSON.parse(said) as unknown
  if (status === 401) throw new NoAnswerError('The gateway has another ADMIN_TOKEN.')
  const problem = readError(said)?.message
  if (path !== 'fleet' && problem !== undefined) throw new NoAnswerError(problem)
  if (status === 404) {
    throw new NoAnswerError(
      `There is no admin API at ${url}: set ADMIN_TOKEN of the gateway, or ADMIN_URL here if it ` +
        'has another address for admins.',
    )
  }
  throw new NoAnswerError(`The gateway answered ${status}.`)
}

async function answerOf(url: string, options: RequestOptions) {
  const { statusCode, body } = await request(new URL(url), options)
  return { status: statusCode, said: await text(body) }
}

/** A certificate that is missing or wrong differs from a gateway that is not there. */
function reasonOf(cause: unknown): string {
  const { code = '', message } = cause as NodeJS.ErrnoException
  return /CERT|VERIFY|TLS|SSL|EPROTO/.test(code)
    ? `: ${message.trim()}. INTERNAL_TLS_CERT, INTERNAL_TLS_KEY and INTERNAL_TLS_CA must be ` +
        'those of this service, and its certificate must have the name in the address.'
    : ': is the gateway there?'
}
