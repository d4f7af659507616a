/** Calls the admin API of a gateway. */

import type { Gateway } from './start-gateway.ts'

export const ADMIN_TOKEN = 'the-admin-token-of-this-test'

/** Options of a gateway with an admin API. */
export const ADMIN = { config: { adminToken: ADMIN_TOKEN } }

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** @param token null to send none */
export const admin = (
  { app }: Pick<Gateway, 'app'>,
  method: Method,
  path: string,
  body?: object,
  token: string | null = ADMIN_TOKEN,
) =>
  app.inject({
    method,
    url: `/admin/${path}`,
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    ...(body !== undefined && { payload: body }),
  })

export interface AdminCall {
  method: Method
  path: string
  operationId: string
}

/** Returns all calls of the admin API, as its description lists them, with `x` for each id. */
export async function adminCalls(gateway: Pick<Gateway, 'call'>): Promise<AdminCall[]> {
  const { paths } = (await gateway.call('GET', '/v1/openapi.json')).json()
  return Object.entries<Record<string, { operationId: string }>>(paths)
    .filter(([path]) => path.startsWith('/admin/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({
        method: method.toUpperCase() as Method,
        path: path.replace('/admin/', '').replaceAll(/\{\w+\}/g, 'x'),
        operationId,
      })),
    )
}

/** Makes a call, with an empty body if it may have one. */
export const knock = (
  gateway: Pick<Gateway, 'app'>,
  { method, path }: Pick<AdminCall, 'method' | 'path'>,
  token?: string | null,
) => admin(gateway, method, path, method.startsWith('P') ? {} : undefined, token)
