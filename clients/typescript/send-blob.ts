/** Sends a blob and reports progress. */

import type { components } from './api.ts'
import { call, originOf } from './call.ts'
import { refusal, UnreachableError } from './errors.ts'

type CreatedFile = components['schemas']['CreateFileResponse']

interface SendOptions {
  /** Receives the share that is sent, from 0 to 1. */
  onProgress(part: number): void
  signal: AbortSignal
}

/** The part of a browser's XMLHttpRequest that is used; Node's types do not include it. */
interface BrowserRequest {
  readonly status: number
  readonly statusText: string
  readonly responseText: string
  readonly upload: { onprogress: ((event: { loaded: number; total: number }) => void) | null }
  onload: (() => void) | null
  onerror: (() => void) | null
  onabort: (() => void) | null
  onloadend: (() => void) | null
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getResponseHeader(name: string): string | null
  send(body: Blob): void
  abort(): void
}

/** Returns a callback that passes progress on only when it grows, because a retry starts at 0. */
export function monotonicProgress(onProgress: (part: number) => void): (part: number) => void {
  let most = 0
  return (part) => {
    if (part > most) onProgress((most = part))
  }
}

const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => BrowserRequest }

/**
 * Uses XMLHttpRequest in browsers, where fetch reports no upload progress; elsewhere counts the
 * stream.
 */
export const sendBlob = (file: CreatedFile, bytes: Blob, options: SendOptions): Promise<void> =>
  XMLHttpRequest
    ? sendInBrowser(new XMLHttpRequest(), file, bytes, options)
    : sendStream(file, bytes, options)

function sendInBrowser(
  request: BrowserRequest,
  { upload_url: url, upload_method: method, headers }: CreatedFile,
  bytes: Blob,
  { onProgress, signal }: SendOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => request.abort()
    request.open(method, url)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total)
    request.onload = () => {
      const { status, statusText, responseText } = request
      const retryAfter = request.getResponseHeader('retry-after')
      if (status >= 200 && status < 300) resolve()
      else reject(refusal(responseText, { status, statusText, retryAfter }))
    }
    request.onerror = () => reject(new UnreachableError(originOf(url), undefined))
    request.onabort = () => reject(signal.reason as Error)
    request.onloadend = () => signal.removeEventListener('abort', abort)
    signal.throwIfAborted()
    signal.addEventListener('abort', abort, { once: true })
    request.send(bytes)
  })
}

async function sendStream(
  { upload_url: url, upload_method: method, headers }: CreatedFile,
  bytes: Blob,
  { onProgress, signal }: SendOptions,
): Promise<void> {
  let sent = 0
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      sent += piece.length
      onProgress(sent / bytes.size)
      controller.enqueue(piece)
    },
  })
  const body = bytes.stream().pipeThrough(count)
  const sized = { ...headers, 'content-length': String(bytes.size) }
  await call(url, { method, headers: sized, body, signal, duplex: 'half' } as RequestInit)
}
