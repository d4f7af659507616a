/** Calls of the operator's API, with ADMIN_TOKEN or a session of it. */

import { signal } from '@preact/signals'
import { readError } from '../../clients/typescript/errors.ts'

/** Both throw an Error that says what was wrong. */
export interface Admin {
  read<T>(path: string): Promise<T>
  act<T>(path: string, body?: object): Promise<T>
}

const TOKEN = 'winnow-admin-token'

/** Kept for this tab; null: the page asks for one. */
export const adminToken = signal(sessionStorage.getItem(TOKEN))

export function keepAdminToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(TOKEN)
  else sessionStorage.setItem(TOKEN, token)
  adminToken.value = token
}

/** Why the code of the address opened no session. */
export const codeProblem = signal('')

/**
 * Opens a session with the code in `#operator=…`, which leaves the address at once.
 * @returns whether there is one
 */
export function takeOperatorCode(): boolean {
  const code = new URLSearchParams(location.hash.slice(1)).get('operator')
  if (code === null) return false
  history.replaceState(null, '', location.pathname)
  createAdmin(code)
    .act<{ token: string }>('session')
    .then(({ token }) => keepAdminToken(token))
    .catch((error: Error) => (codeProblem.value = error.message))
  return true
}

/** Returns whether the gateway has operators' pages; true where nobody knows. */
export async function hasAdmin(): Promise<boolean> {
  const reply = await fetch('admin/fleet').catch(() => undefined)
  return reply?.status !== 404
}

export function createAdmin(token: string): Admin {
  const call = async <T>(path: string, init: RequestInit): Promise<T> => {
    const headers = { authorization: `Bearer ${token}`, ...init.headers }
    const reply = await fetch(`admin/${path}`, { ...init, headers })
    if (reply.ok) return (await reply.json()) as T
    throw new Error(readError(await reply.text())?.message ?? reply.statusText)
  }
  return {
    read: (path) => call(path, {}),
    act: (path, body = {}) =>
      call(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  }
}
