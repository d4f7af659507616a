/** Calls fetch and throws our errors. */

import { ApiError, refusal, UnreachableError } from './errors.ts'

/**
 * @throws ApiError for any status other than 2xx; UnreachableError; the reason of the call's signal
 */
export async function call(url: string, options: RequestInit): Promise<Response> {
  const response = await reaching(url, options, fetch(url, options))
  if (response.ok) return response
  const { status, statusText, headers } = response
  const info = { status, statusText, retryAfter: headers.get('retry-after') }
  throw refusal(await reaching(url, options, response.text()), info)
}

/**
 * Returns the JSON of a response.
 * @throws as `call`, and ApiError if the response is something else, such as a page
 */
export async function callJson<T>(url: string, options: RequestInit): Promise<T> {
  const response = await call(url, options)
  const text = await reaching(url, options, response.text())
  try {
    return JSON.parse(text) as T
  } catch {
    const path = url.replace(/^https?:\/\/[^/]*/i, '')
    const message = `The response to ${options.method} ${path} is not JSON; is baseUrl right?`
    throw new ApiError({ code: `HTTP_${response.status}`, message }, { status: response.status })
  }
}

/** @throws UnreachableError if a connection fails; the reason of the signal once it has fired */
const reaching = <T>(url: string, { signal }: RequestInit, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    signal?.throwIfAborted()
    throw new UnreachableError(originOf(url), error)
  })

/** Returns the origin of an address, which may be relative in a page. */
export const originOf = (url: string): string =>
  URL.canParse(url) ? new URL(url).origin : 'The service'
