/** Signs in to the page of a gateway. */

import assert from 'node:assert/strict'
import type { Method } from './admin.ts'
import type { Gateway } from './start-gateway.ts'

export interface PageSession {
  cookie: string
  /** The token that calls which change something must send. */
  token?: string
}

/** Makes a one-time code, by default with the gateway's own key. */
export async function newCode(gateway: Gateway, key = gateway.key): Promise<string> {
  const headers = { authorization: `Bearer ${key}` }
  const reply = await gateway.call('POST', '/playground/codes', { headers })
  assert.equal(reply.statusCode, 201, reply.body)
  return reply.json().code
}

export const exchange = ({ app }: Gateway, code: unknown) =>
  app.inject({ method: 'POST', url: '/playground/sessions', payload: { code } })

export async function openSession(gateway: Gateway, key?: string) {
  const reply = await exchange(gateway, await newCode(gateway, key))
  assert.equal(reply.statusCode, 201, reply.body)
  const cookie = String(reply.headers['set-cookie']).split(';')[0]!
  return { cookie, token: reply.json().csrf_token as string }
}

/** Calls a path as the page does. */
export const callPage = (
  { app }: Gateway,
  method: Method,
  url: string,
  { cookie, token }: PageSession,
  payload?: object,
) => {
  const headers = { cookie, ...(token !== undefined && { 'x-csrf-token': token }) }
  return app.inject({ method, url, headers, ...(payload && { payload }) })
}

/** Lists the models as the page does. */
export const listModels = (gateway: Gateway, session: PageSession) =>
  callPage(gateway, 'GET', '/playground/v1/models', session)
