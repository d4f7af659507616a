/** Calls of the admin API, with ADMIN_TOKEN, a session of it, or one of an admin by name. */

import { signal } from '@preact/signals'
import { refusal } from '../../clients/typescript/errors.ts'
import { adminAddress, goTo, parameters, readAddress } from './address.ts'

/** All throw an Error that says what was wrong. */
export interface Admin {
  read<T>(path: string): Promise<T>
  act<T>(path: string, body?: object, method?: 'POST' | 'PUT'): Promise<T>
  remove(path: string): Promise<void>
  /** Gets a file, such as a report. */
  file(path: string): Promise<Blob>
  /** Ends the session, where the token is that of one. */
  end(): Promise<void>
}

const TOKEN = 'winnow-admin-token'

/** What admins may do: each role may do all that those before it may. */
const ROLES = ['viewer', 'operator', 'owner'] as const

export type Role = (typeof ROLES)[number]

/** As the gateway knows them; the name is null for the holder of a token. */
export interface SignedInAdmin {
  role: Role
  subject: string | null
  name: string | null
}

/** Null until the gateway has said who is signed in. */
export const signedIn = signal<SignedInAdmin | null>(null)

/** Returns whether the page offers what takes this role; the gateway refuses it anyway. */
export const mayAct = (least: Role): boolean =>
  signedIn.value !== null && ROLES.indexOf(signedIn.value.role) >= ROLES.indexOf(least)

/** Kept for this tab; null: the page asks for one. */
export const adminToken = signal(sessionStorage.getItem(TOKEN))

export function keepAdminToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(TOKEN)
  else sessionStorage.setItem(TOKEN, token)
  signedIn.value = null
  adminToken.value = token
}

export const showAdmin = (section: string): void => goTo({ kind: 'admin', section, filters: {} })

/** Why the code of the address, or the provider, opened no session. */
export const codeProblem = signal('')

/**
 * Opens a session with the code in `#admin=…`, or with what the provider's sign-in has left in
 * `#signed-in`. Either leaves the address at once.
 */
export function takeAdminCode(): void {
  const code = parameters().get('admin')
  if (code === null && !parameters().has('signed-in')) return
  history.replaceState(null, '', adminAddress('work'))
  readAddress()
  createAdmin(code)
    .act<{ token: string }>(code === null ? 'sign-in/session' : 'session')
    .then(({ token }) => keepAdminToken(token))
    .catch((error: Error) => (codeProblem.value = error.message))
}

/**
 * How admins sign in here: with a provider of this name, or with the token alone. Undefined where
 * there is no admins' view.
 */
export async function readSignIn(): Promise<{ provider: string | null } | undefined> {
  const reply = await fetch('admin/sign-in').catch(() => undefined)
  if (reply?.status === 404) return undefined
  return reply?.ok ? ((await reply.json()) as { provider: string | null }) : { provider: null }
}

/** @param token null for calls that need none */
export function createAdmin(token: string | null): Admin {
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers)
    if (token !== null) headers.set('authorization', `Bearer ${token}`)
    const reply = await fetch(`admin/${path}`, { ...init, headers })
    if (reply.ok) return reply
    // Wrong tokens are counted, so this one is not sent again.
    const { message } = refusal(await reply.text(), reply)
    if (reply.status === 401 && token !== null && token === adminToken.value) keepAdminToken(null)
    throw new Error(message) // an ApiError of status 401 would end the session of the API
  }
  return {
    read: async (path) => (await send(path, {})).json(),
    async act(path, body = {}, method = 'POST') {
      const headers = { 'content-type': 'application/json' }
      const reply = await send(path, { method, headers, body: JSON.stringify(body) })
      return reply.json()
    },
    async remove(path) {
      await send(path, { method: 'DELETE' })
    },
    file: async (path) => (await send(path, {})).blob(),
    async end() {
      await send('session', { method: 'DELETE' })
    },
  }
}
