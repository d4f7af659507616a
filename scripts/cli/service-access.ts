/** Finds the service's address and a key for client commands, and explains the service's errors. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ApiError, UnreachableError } from '../../clients/typescript/node.ts'
import { readOwnAddress, readOwnAdminAddress } from '../../shared/own-address.ts'
import { commandText } from './command-name.ts'
import { TEXT, UsageError } from './command.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The options of every client command. */
export const SERVICE = { url: TEXT, key: TEXT }

/** The lines about `SERVICE` in the help of a command. */
export const SERVICE_HELP = `\
  --url URL             the service (or WINNOW_URL; default: the one running on DATA_DIR,
                        otherwise http://127.0.0.1:8080)
  --key KEY             API key (or WINNOW_API_KEY; for a service on this machine also the file
                        api-key in DATA_DIR, by default ./data)`

/** For a client of a command that a person waits for: it soon says that no service is there. */
export const ONE_RETRY = { retries: 1 }

export interface Access {
  baseUrl: string
  apiKey: string | undefined
}

/** @throws UsageError for an invalid address */
export function readAccess(
  { url, key }: { url?: string | undefined; key?: string | undefined },
  env: Environment,
): Access {
  const baseUrl = readBaseUrl(url ?? usualUrl(env))
  return { baseUrl, apiKey: key ?? env.WINNOW_API_KEY ?? localSecret('api-key', baseUrl, env) }
}

function readBaseUrl(text: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '')
  throw new UsageError(`the service's address must be an http or https URL, not "${text}"`)
}

/** The address if no option names one: that of the gateway on DATA_DIR, if one is running. */
export const usualUrl = (env: Environment): string =>
  env.WINNOW_URL ?? readOwnAddress(dataFolderOf(env)) ?? 'http://127.0.0.1:8080'

/** Where its admin API is; ADMIN_URL is also the gateway's setting, unset if empty. */
export const usualAdminUrl = (env: Environment): string =>
  env.ADMIN_URL ||
  (env.WINNOW_URL === undefined && readOwnAdminAddress(dataFolderOf(env))) ||
  usualUrl(env)

const dataFolderOf = (env: Environment): string => env.DATA_DIR || 'data'

/**
 * A secret that `npm start` left here. It is only used for its own service, or one on this machine.
 */
export function localSecret(
  name: 'api-key' | 'admin-token',
  baseUrl: string,
  env: Environment,
): string | undefined {
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(baseUrl).hostname)
  const folder = dataFolderOf(env)
  const own = name === 'api-key' ? readOwnAddress(folder) : readOwnAdminAddress(folder)
  if (!isHere && baseUrl !== own) return undefined
  try {
    return readFileSync(join(folder, name), 'utf8').trim() || undefined
  } catch {
    return undefined // no such file; the service will say that the key is missing
  }
}

/** Describes an error in a line. */
export function describe(error: unknown): string {
  if (error instanceof ApiError) {
    return `${error.code}: ${error.message}${error.param ? ` (${error.param})` : ''}`
  }
  if (error instanceof UnreachableError) {
    return `${error.message} Is the service running? Start it with: ${commandText('start')}`
  }
  return error instanceof Error ? error.message : String(error)
}

/**
 * Statuses of a service that will refuse every request of this key. 200 means that the response is
 * not from a Winnow service.
 */
const FINAL_STATUSES = [200, 401, 402, 403]

/** Returns whether the same call would fail for every other file. */
export const endsAll = (error: unknown): boolean =>
  error instanceof UnreachableError ||
  (error instanceof ApiError && FINAL_STATUSES.includes(error.status ?? 0))
