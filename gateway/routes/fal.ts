/**
 * fal's queue API for `fal-ai/sam-audio`, so that `@fal-ai/client` works here unchanged, with this
 * service as its `proxyUrl`. The setting FAL_API turns it on.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { MINUTE_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { FILE_BYTES_MAX } from '../../shared/file-limits.ts'
import { newId } from '../../shared/ids.ts'
import { errorAnswerer } from '../api/error-handler.ts'
import { INPUT_PURPOSE } from '../api/file-schemas.ts'
import { flagOf } from '../api/pagination.ts'
import { checkCreateFile } from '../api/validation.ts'
import type { RequestWatch } from '../requests/follow/request-feed.ts'
import { waitForEnd, watchStatus } from '../requests/follow/status-watch.ts'
import {
  cancelIfUnfinished,
  cancelRequest,
  findOwn,
  resultOf,
  statusOf,
  type CancelDeps,
  type ResultDeps,
} from '../requests/own-requests.ts'
import { WAIT_SECONDS_MAX } from '../requests/separate.ts'
import { markReceived, receiveFile, type ReceiveDeps } from '../requests/submit/receive-file.ts'
import { submit, type SubmitDeps } from '../requests/submit/submit.ts'
import { hidden, onHangUp, type RequestRoute } from './common.ts'
import { sendEvents, type StreamDeps } from './status-stream.ts'
import { hangUpOf } from './submit.ts'
import type { Settings } from '../config.ts'
import { decrypt, encrypt } from '../secrets.ts'
import { readLogs } from '../store/request-logs.ts'
import { findFile } from '../store/files.ts'
import { inTransaction } from '../store/database.ts'
import type { KeyWithAccount } from '../store/api-keys.ts'
import type { RequestRow } from '../store/schema/tables.ts'
import {
  FAL_APP,
  FAL_MODELS,
  FAL_PATH,
  FAL_QUEUE,
  FAL_UPLOADS,
  falAddresses,
  falError,
  falFileUrl,
  falPath,
  falStatus,
  submitBody,
} from '../api/fal-shapes.ts'

type UploadDeps = ReceiveDeps & { config: Settings<'encryptionKeys' | 'publicUrl'> }

/** fal's calls are translated into ours, so they need the same dependencies. */
export type FalDeps = SubmitDeps & CancelDeps & ResultDeps & StreamDeps & UploadDeps

const REQUEST = `${FAL_QUEUE}/requests/:request_id`
const STREAM_INTERVAL_MS = 2_000
const UPLOAD_OWNER = 'fal-upload'

type StatusRoute = RequestRoute & { Querystring: { logs?: unknown } }

interface SubmitRoute {
  Params: { model: string }
  Querystring: { fal_webhook?: string }
}

/** What the token in an upload URL contains. */
interface UploadToken {
  accountId: string
  fileId: string
  name: string
  contentType: string
  /** Epoch milliseconds. */
  expiresAt: number
}

/** For Fastify's `rewriteUrl`: sends a call made through `proxyUrl` to the path of its target. */
export function falUrl({ url = '/', headers }: { url?: string; headers: object }): string {
  const { 'x-fal-target-url': target } = headers as Record<string, unknown>
  if (url.split('?')[0] !== FAL_PATH || typeof target !== 'string') return url
  return falPath(target) ?? url
}

/**
 * Answers errors as fal does, and accepts its `Authorization: Key …`. Install it before the
 * authenticator.
 */
export function installFal(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ headers }) => {
    headers.authorization = headers.authorization?.replace(/^Key /i, 'Bearer ')
  })
  app.setErrorHandler(errorAnswerer(falError))
}

export function falRoutes(app: FastifyInstance, deps: FalDeps): void {
  submitRoutes(app, deps)
  requestRoutes(app, deps)
  app.post(
    `${FAL_PATH}/rest/storage/upload/initiate`,
    { ...hidden, config: { scope: 'files:write' } },
    async ({ accountId, body }) => beginUpload(deps, accountId, body),
  )
  app.post(
    `${FAL_PATH}/rest/storage/upload/initiate-multipart`,
    { ...hidden, config: { scope: 'files:write' } },
    async () => {
      const message =
        'Multipart uploads (files over 90 MB) are not supported. Pass a public URL as audio_url, ' +
        'or upload with POST /v1/files and use the native API.'
      throw new ServiceError('PAYLOAD_TOO_LARGE', { message })
    },
  )
}

function submitRoutes(app: FastifyInstance, deps: FalDeps): void {
  const options = { ...hidden, config: { scope: 'audio:separate' } } as const
  app.post<SubmitRoute>(`${FAL_QUEUE}/:model`, options, async (request, reply) => {
    const requestId = await submitFal(deps, request, reply)
    return {
      status: 'IN_QUEUE',
      queue_position: 0,
      ...falAddresses(deps.config.publicUrl(), requestId),
    }
  })
  app.post<SubmitRoute>(`${FAL_PATH}/run/${FAL_APP}/:model`, options, async (request, reply) => {
    const signal = hangUpOf(reply)
    const requestId = await submitFal(deps, request, reply)
    return waitForResult(deps, { key: request.apiKey, requestId, signal })
  })
}

function requestRoutes(app: FastifyInstance, deps: FalDeps): void {
  const options = { ...hidden, config: { scope: 'audio:separate' } } as const
  const ownRow = ({ accountId, params }: FastifyRequest<StatusRoute>, reply: FastifyReply) => {
    reply.header('x-fal-request-id', params.request_id)
    return findOwn(deps, accountId, params.request_id)
  }
  app.get<StatusRoute>(REQUEST, options, async (request, reply) => {
    const { data } = await resultOf(deps, await ownRow(request, reply))
    return data
  })
  app.get<StatusRoute>(`${REQUEST}/status`, options, async (request, reply) => {
    const row = await ownRow(request, reply)
    const logs = flagOf(request.query.logs) ? await readLogs(deps.store, row.request_id) : undefined
    return falStatus(deps.config.publicUrl(), await statusOf(deps, row, logs))
  })
  app.get<StatusRoute>(`${REQUEST}/status/stream`, options, async (request, reply) => {
    await ownRow(request, reply)
    const watch = deps.feed.watch(request.params.request_id, request.accountId, request.apiKey)
    onHangUp(reply, () => watch.close())
    return sendEvents(reply, statusEvents(deps, request, watch))
  })
  app.put<StatusRoute>(`${REQUEST}/cancel`, options, async (request, reply) => {
    await cancelRequest(deps, await ownRow(request, reply))
    return reply.status(202).send({ status: 'CANCELLATION_REQUESTED' })
  })
}

/** @returns the id of the new request */
async function submitFal(
  deps: FalDeps,
  { apiKey, body, params: { model }, query }: FastifyRequest<SubmitRoute>,
  reply: FastifyReply,
): Promise<string> {
  if (!FAL_MODELS.some((name) => name === model)) {
    const known = FAL_MODELS.join(' and ')
    const message = `Unknown model ${FAL_APP}/${model}. This server supports ${known}.`
    throw new ServiceError('NOT_FOUND', { message })
  }
  const { answer } = await submit(deps, apiKey, {
    body: submitBody(body, { publicUrl: deps.config.publicUrl(), webhookUrl: query.fal_webhook }),
    webhookFormat: 'fal',
    signal: hangUpOf(reply),
  })
  const { request_id: requestId } = JSON.parse(answer) as { request_id: string }
  reply.header('x-fal-request-id', requestId)
  return requestId
}

/**
 * Waits for the result. Only this call knows the request, so if the wait ends first, the request is
 * canceled.
 * @throws ServiceError `REQUEST_FAILED`; `RESULT_NOT_READY` after a minute, or once the client is
 *   gone; `RATE_LIMITED` if the account has too many streams open
 */
async function waitForResult(
  deps: FalDeps,
  { key, requestId, signal }: { key: KeyWithAccount; requestId: string; signal: AbortSignal },
) {
  let ended: RequestRow | undefined
  try {
    ended = await waitForEnd(deps, { key, requestId, seconds: WAIT_SECONDS_MAX, signal })
  } finally {
    if (!ended) await cancelIfUnfinished(deps, await findOwn(deps, key.account_id, requestId))
  }
  if (ended) return (await resultOf(deps, ended)).data
  throw new ServiceError('RESULT_NOT_READY', {
    message:
      `The request took longer than ${WAIT_SECONDS_MAX} seconds and was canceled. ` +
      'Use fal.subscribe for long requests.',
  })
}

async function* statusEvents(
  deps: FalDeps,
  { apiKey, params: { request_id: requestId }, query, log }: FastifyRequest<StatusRoute>,
  watch: RequestWatch,
) {
  const windowMs = 1_000 * deps.config.streamWindowSeconds
  const logs = flagOf(query.logs)
  const options = { key: apiKey, requestId, logs, intervalMs: STREAM_INTERVAL_MS, windowMs }
  try {
    for await (const step of watchStatus(deps, watch, options)) {
      const status = falStatus(deps.config.publicUrl(), await statusOf(deps, step.row, step.logs))
      yield `data: ${JSON.stringify(status)}\n\n`
    }
  } catch (error) {
    log.error({ err: error, requestId }, 'a status stream for a client of fal failed')
    throw error // the client sees that the stream broke off
  }
}

function beginUpload(deps: UploadDeps, accountId: string, body: unknown): object {
  const { file_name, content_type } = Object(body) as Record<string, unknown>
  const { file_name: name, content_type: contentType } = checkCreateFile({
    file_name,
    content_type,
    file_size: 1, // unknown until the bytes arrive
    purpose: INPUT_PURPOSE,
  })
  const { encryptionKeys, publicUrl, uploadMinutes } = deps.config
  const upload: UploadToken = {
    accountId,
    fileId: newId('file'),
    name,
    contentType,
    expiresAt: deps.clock.now() + uploadMinutes * MINUTE_MS,
  }
  const token = encrypt(encryptionKeys, UPLOAD_OWNER, JSON.stringify(upload))
  return {
    upload_url: `${publicUrl()}${FAL_UPLOADS}${token}`,
    file_url: falFileUrl(publicUrl(), upload.fileId),
  }
}

/** Adds the addresses at which Blobs are uploaded, which need no key. */
export function falUploadRoutes(app: FastifyInstance, deps: UploadDeps): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null)) // read from the socket
  app.put<{ Params: { token: string } }>(`${FAL_UPLOADS}:token`, hidden, async (request, reply) => {
    const upload = openUpload(deps, request.params.token)
    if (await findFile(deps.store, upload.fileId)) {
      throw new ServiceError('FILE_ALREADY_UPLOADED')
    }
    const length = request.headers['content-length']
    const { file } = await receiveFile(deps, upload.accountId, {
      ...upload,
      body: request.raw,
      ...(length !== undefined && { bytes: Number(length) }),
      bytesMax: length === undefined ? FILE_BYTES_MAX : Math.min(Number(length), FILE_BYTES_MAX),
      signal: hangUpOf(reply),
    })
    await inTransaction(deps.store, (store) => markReceived(store, file))
    return {}
  })
}

function openUpload({ config, clock }: UploadDeps, token: string): UploadToken {
  let text: string
  try {
    text = decrypt(config.encryptionKeys, UPLOAD_OWNER, token)
  } catch {
    throw new ServiceError('NOT_FOUND')
  }
  const upload = JSON.parse(text) as UploadToken
  if (clock.now() < upload.expiresAt) return upload
  throw new ServiceError('FILE_EXPIRED', {
    message: 'The upload URL has expired. Request a new one.',
  })
}
