import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import type { OutputPart } from '../../shared/messages.ts'
import { isTerminal } from '../../shared/request-status.ts'
import { isoTime, type Deps } from '../deps.ts'
import { checkAddress } from '../media-address.ts'
import { inputPath, outputPath } from '../presenter.ts'
import { findFile, markFileUploaded } from '../store/files.ts'
import { findRequest } from '../store/requests.ts'
import { inputKey, outputsKey } from '../store/retention.ts'

interface InputRoute {
  Params: { file_id: string }
}

interface OutputRoute {
  Params: { request_id: string; part: OutputPart }
}

const HOUR_MS = 3_600_000

/** Uploads by signed address: inputs by clients, once; outputs by engines, until the end. */
export function uploadRoutes(app: FastifyInstance, deps: Deps): void {
  // Bodies are bytes of any type: the handlers read them from the socket.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  app.put<InputRoute>('/media/inputs/:file_id', { schema: { hide: true } },
    (request, reply) => takeInput(deps, request, reply))
  app.put<OutputRoute>('/media/outputs/:request_id/:part', { schema: { hide: true } },
    (request, reply) => takeOutput(deps, request, reply))
}

async function takeInput(deps: Deps, request: FastifyRequest<InputRoute>, reply: FastifyReply) {
  const { store, mediaStore, clock, config } = deps
  const { file_id: fileId } = request.params
  const { size } = checkAddress(request, 'PUT', inputPath(fileId), deps)
  const file = await findFile(store, fileId)
  if (!file || size === undefined) throw new ServiceError('NOT_FOUND')
  if (file.uploaded_at !== null) throw new ServiceError('FILE_ALREADY_UPLOADED')
  checkContentLength(request, size)
  const inTime = AbortSignal.timeout(Math.max(0, Date.parse(file.expires_at) - clock.now()))
  const key = inputKey(fileId)
  const { sha256 } = await mediaStore.write(key, request.raw, { bytes: size, signal: inTime })
    .catch((error: unknown) => {
      throw inTime.aborted ? tooLate(error) : error
    })
  const now = clock.now()
  const uploaded = await markFileUploaded(store, fileId, {
    uploaded_at: isoTime(now),
    expires_at: isoTime(now + config.fileHours * HOUR_MS),
  })
  if (!uploaded) {
    const known = await findFile(store, fileId)
    if (known?.uploaded_at) throw new ServiceError('FILE_ALREADY_UPLOADED')
    await mediaStore.remove(key)
    throw tooLate()
  }
  return reply.header('etag', `"${sha256}"`).send()
}

const tooLate = (cause?: unknown) => new ServiceError('FILE_EXPIRED', {
  message: 'The upload was not finished before its address expired; create the file anew.', cause,
})

/** A wrong length is told before the bytes are sent. */
function checkContentLength({ headers }: FastifyRequest, size: number): void {
  const chunked = headers['transfer-encoding'] !== undefined
  const given = headers['content-length'] ?? (chunked ? undefined : '0')
  if (given === undefined || Number(given) === size) return
  throw new ServiceError('INVALID_REQUEST', {
    message: `Content-Length is ${given}; file_size is ${size}.`,
  })
}

async function takeOutput(deps: Deps, request: FastifyRequest<OutputRoute>, reply: FastifyReply) {
  const { request_id: requestId, part } = request.params
  checkAddress(request, 'PUT', outputPath(requestId, part), deps)
  const row = await findRequest(deps.store, requestId)
  if (!row) throw new ServiceError('NOT_FOUND')
  if (isTerminal(row.status)) throw new ServiceError('REQUEST_FINISHED')
  const { sha256 } = await deps.mediaStore.write(`${outputsKey(requestId)}/${part}`, request.raw)
  const now = await findRequest(deps.store, requestId)
  if (!now || now.status === 'FAILED' || now.media_removed_at !== null) {
    await deps.mediaStore.remove(outputsKey(requestId)) // it ended meanwhile, and may be swept
    throw new ServiceError('REQUEST_FINISHED')
  }
  return reply.header('etag', `"${sha256}"`).send()
}
