/** A fetch that throws our errors. */

import { ApiError, readError, UnreachableError, type ResponseInfo } from './errors.ts'

/** @throws ApiError for any status but 2xx; UnreachableError; the reason of the call's signal */
export async function call(url: string, options: RequestInit): Promise<Response> {
  const reply = await reaching(url, options, fetch(url, options))
  if (reply.ok) return reply
  const { status, statusText, headers } = reply
  const answered = { status, retryAfter: headers.get('retry-after') }
  throw refusal(answered, statusText, await reaching(url, options, reply.text()))
}

/** The JSON of an answer. @throws as `call`, and ApiError where it is none, such as a page */
export async function callJson<T>(url: string, options: RequestInit): Promise<T> {
  const reply = await call(url, options)
  const text = await reaching(url, options, reply.text())
  try {
    return JSON.parse(text) as T
  } catch {
    const path = url.replace(/^https?:\/\/[^/]*/i, '')
    const message = `The answer to ${options.method} ${path} is not JSON; is baseUrl right?`
    throw new ApiError({ code: `HTTP_${reply.status}`, message }, { status: reply.status })
  }
}

/** @throws UnreachableError where a connection fails; the reason of the signal once it fired */
const reaching = <T>(url: string, { signal }: RequestInit, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    signal?.throwIfAborted()
    throw new UnreachableError(originOf(url), error)
  })

/** The error of an answer that is none of success. */
export const refusal = (answered: ResponseInfo, statusText: string, text: string): ApiError =>
  readError(text, answered) ??
  new ApiError({ code: `HTTP_${answered.status}`, message: statusText }, answered)

/** The origin of an address, which in a page may be relative. */
export const originOf = (url: string): string =>
  URL.canParse(url) ? new URL(url).origin : 'The service'
