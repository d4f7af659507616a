/**
 * Who calls the API: an API key, kept for this tab, or a session opened by a one-time code
 * (docs/decisions/accounts.md).
 */

import { signal } from '@preact/signals'
import { createClient, type Client, type ClientOptions } from '../../clients/typescript/client.ts'
import { ApiError, refusal } from '../../clients/typescript/errors.ts'
import { Transport } from '../../clients/typescript/transport.ts'
import { parameters } from './address.ts'
import { SERVICE } from './service.ts'

export type Credential = { kind: 'key'; key: string } | { kind: 'session'; csrfToken: string }

/** Undefined while loading; null if the page must ask for a key. */
export const credential = signal<Credential | null | undefined>(undefined)
/** Why the page asks for a key. */
export const credentialNotice = signal('')

const KEY = 'winnow-api-key'
const SESSION = 'playground/session'

interface Session {
  csrf_token: string
}

/**
 * Uses the one-time code in the address, the key of this tab, or the session of this browser. A
 * code replaces somebody who is signed in only if they agree, because anybody can make a link with
 * their own code.
 */
export async function restoreCredential(): Promise<void> {
  const code = takeCode()
  const current = await currentCredential()
  if (code !== null && (current === null || confirm(REPLACE)) && (await exchangeCode(code))) return
  credential.value = current
}

const REPLACE =
  'You are signed in already. Sign in with the code of this link instead? It may belong to ' +
  'another account, which then gets what you upload.'

async function currentCredential(): Promise<Credential | null> {
  const key = sessionStorage.getItem(KEY)
  if (key !== null) return { kind: 'key', key }
  const reply = await fetch(SESSION).catch(() => undefined)
  return reply?.ok ? sessionOf((await reply.json()) as Session) : null
}

const sessionOf = ({ csrf_token: csrfToken }: Session): Credential => ({
  kind: 'session',
  csrfToken,
})

/** Takes the code in `#code=…` and removes it from the address; a request in the address stays. */
function takeCode(): string | null {
  const fragment = parameters()
  const code = fragment.get('code')
  if (code === null) return null
  fragment.delete('code')
  history.replaceState(null, '', fragment.size > 0 ? `#${fragment}` : location.pathname)
  return code
}

async function exchangeCode(code: string): Promise<boolean> {
  try {
    const reply = await fetch('playground/sessions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    })
    if (reply.ok) {
      const session = (await reply.json()) as Session
      sessionStorage.removeItem(KEY)
      credential.value = sessionOf(session)
      return true
    }
    credentialNotice.value = refusal(await reply.text(), reply).message
  } catch {
    credentialNotice.value = 'The service does not answer. Open the link with the code again.'
  }
  return false
}

/**
 * Keeps a key once the service has accepted it.
 * @throws ApiError; UnreachableError
 */
export async function useKey(key: string): Promise<void> {
  await createClient({ baseUrl: SERVICE, apiKey: key }).models()
  keepKey(key)
}

/** Keeps a key that the service is known to accept. */
function keepKey(key: string): void {
  sessionStorage.setItem(KEY, key)
  credentialNotice.value = ''
  credential.value = { kind: 'key', key }
}

/** Settles once no new secret of the own key is awaited. */
let replacing: Promise<unknown> = Promise.resolve()

/**
 * Keeps the new secret of the own key that is being made. The old one may be refused before it
 * arrives, which then signs nobody out.
 */
export function keepNewSecret<Made extends { key: string }>(making: Promise<Made>): Promise<Made> {
  const kept = making.then((made) => {
    keepKey(made.key)
    return made
  })
  replacing = kept.catch(() => undefined)
  return kept
}

/**
 * Resolves with the result of `work`, which runs again if it was refused with a credential that
 * this tab has replaced since.
 */
export async function retryWithNewCredential<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const used = credential.peek()
    try {
      return await work()
    } catch (error) {
      if (!isRefusal(error)) throw error
      await replacing
      const now = credential.peek()
      if (!now || now === used) throw error
    }
  }
}

/** The error of a stream has no status. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 401 || error.code === 'UNAUTHENTICATED')

/**
 * Forgets the key, or ends the session.
 * @throws ApiError or UnreachableError if the session goes on
 */
export async function signOut(): Promise<void> {
  if (credential.value?.kind === 'session') await endSession()
  forget()
}

function forget(why = ''): void {
  sessionStorage.removeItem(KEY)
  credentialNotice.value = why
  credential.value = null
}

async function endSession(): Promise<void> {
  try {
    await new Transport(clientOptions()).delete('/session')
  } catch (error) {
    // After a 403 as well: the browser has the session of another tab, and this one's no more.
    const hasEnded = error instanceof ApiError && [401, 403].includes(error.status ?? 0)
    if (!hasEnded) throw error
  }
}

const csrfHeaders = (csrfToken: string) => ({ 'x-csrf-token': csrfToken })

/**
 * Returns a client with the current credential.
 * @param signal aborts its calls
 */
export function currentClient(signal?: AbortSignal): Client {
  const options = clientOptions(signal)
  const client = createClient(options)
  // This call is redirected to the media store, which must not get the token; a GET needs none.
  return options.headers
    ? { ...client, peaks: createClient({ ...options, headers: {} }).peaks }
    : client
}

/**
 * Options of a client with the current credential.
 * @param signal aborts its calls
 */
export function clientOptions(signal?: AbortSignal): ClientOptions {
  const current = credential.value
  const common = { ...(signal && { signal }), retries: 0 } // withRetries retries, and says why
  if (current?.kind !== 'session') return { ...common, baseUrl: SERVICE, apiKey: current?.key }
  const headers = csrfHeaders(current.csrfToken)
  return { ...common, baseUrl: `${SERVICE}/playground`, apiKey: undefined, headers }
}

/**
 * Returns the message of an error. A refused key or an ended session makes the page ask for a key.
 */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  if (isRefusal(error)) void signOutIfRefused(`${message} Sign in again.`)
  return message
}

/** Asks whether the credential of now is refused, because a call may have had the one before. */
async function signOutIfRefused(why: string): Promise<void> {
  await replacing
  const current = credential.peek()
  if (!current) return
  const isRefused = await currentClient()
    .models()
    .then(() => false, isRefusal)
  if (isRefused && credential.peek() === current) forget(why)
}
