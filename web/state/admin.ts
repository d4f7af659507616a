/** Calls of the operator's API, with ADMIN_TOKEN. */

import { readError } from '../../clients/typescript/errors.ts'

/** Both throw an Error that says what was wrong. */
export interface Admin {
  read<T>(path: string): Promise<T>
  act<T>(path: string, body?: object): Promise<T>
}

export function createAdmin(token: string): Admin {
  const call = async <T>(path: string, init: RequestInit): Promise<T> => {
    const headers = { authorization: `Bearer ${token}`, ...init.headers }
    const reply = await fetch(`/admin/${path}`, { ...init, headers })
    if (reply.ok) return (await reply.json()) as T
    const problem = readError(await reply.text())?.message ?? reply.statusText
    const hasNone = reply.status === 404 && init.method === undefined
    throw new Error(hasNone ? 'This gateway has no ADMIN_TOKEN.' : problem)
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
