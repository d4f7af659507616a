/** Calls of the admin API, with ADMIN_TOKEN or a session of it. */

import { signal } from '@preact/signals'
import { readError } from '../../clients/typescript/errors.ts'
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

/** Kept for this tab; null: the page asks for one. */
export const adminToken = signal(sessionStorage.getItem(TOKEN))

export function keepAdminToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(TOKEN)
  else sessionStorage.setItem(TOKEN, token)
  adminToken.value = token
}

export const showAdmin = (section: string): void => goTo({ kind: 'admin', section, filters: {} })

/** Why the code of the address opened no session. */
export const codeProblem = signal('')

/** Opens a session with the code in `#operator=…`, which leaves the address at once. */
export function takeAdminCode(): void {
  const code = parameters().get('operator')
  if (code === null) return
  history.replaceState(null, '', adminAddress('work'))
  readAddress()
  createAdmin(code)
    .act<{ token: string }>('session')
    .then(({ token }) => keepAdminToken(token))
    .catch((error: Error) => (codeProblem.value = error.message))
}

/** Returns whether the gateway has a view of admins; true where nobody knows. */
export async function hasAdmin(): Promise<boolean> {
  const reply = await fetch('admin/fleet').catch(() => undefined)
  return reply?.status !== 404
}

export function createAdmin(token: string): Admin {
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, ...init.headers }
    const reply = await fetch(`admin/${path}`, { ...init, headers })
    if (reply.ok) return reply
    // Wrong tokens are counted, so this one is not sent again.
    if (reply.status === 401 && token === adminToken.value) keepAdminToken(null)
    throw new Error(readError(await reply.text())?.message ?? reply.statusText)
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
