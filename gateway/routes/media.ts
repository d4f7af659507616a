import contentDisposition from 'content-disposition'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import { FOLDER_HEADER } from '../../shared/hand-over.ts'
import type { OutputPart } from '../../shared/messages.ts'
import { isTerminal } from '../../shared/request-status.ts'
import { checkAddress } from '../api/media-address.ts'
import type { Audience } from '../media-store/signed-url.ts'
import { storedPart } from '../requests/present/outputs.ts'
import { findFile } from '../store/files.ts'
import { findRequest } from '../store/requests.ts'
import { inputKey, livePartKey, outputKey, segmentKey } from '../media-store/keys.ts'
import type { Clock } from '../../shared/clock.ts'
import type { LocalDisk } from '../media-store/media-store.ts'
import type { Store } from '../store/database.ts'
import { hidden } from './common.ts'

interface MediaDeps {
  store: Store
  mediaStore: LocalDisk
  clock: Clock
  config: MediaProxy
}

export interface MediaProxy {
  /** The path at which trusted proxies serve the media folder internally; absent if they do not. */
  mediaAccelPath?: string | undefined
}

const SEGMENT_PATH = '/media/outputs/:request_id/checkpoint/:segment'

interface InputRoute {
  Params: { file_id: string }
}

interface OutputRoute {
  /** Has no place in addresses that gateways of 0.2.0 made, nor for outputs of engines of 0.2.0. */
  Params: { request_id: string; place?: string; part: OutputPart }
}

interface SegmentRoute {
  Params: { request_id: string; segment: string }
}

interface LivePartRoute {
  Params: { request_id: string; part: string }
}

/**
 * Serves downloads at signed addresses, whole or by range: inputs and checkpoints to engines, live
 * previews to clients, outputs to both.
 */
export function mediaRoutes(app: FastifyInstance, deps: MediaDeps): void {
  app.get<InputRoute>('/media/inputs/:file_id', hidden, (request, reply) =>
    sendInput(deps, request, reply),
  )
  app.get<SegmentRoute>(SEGMENT_PATH, hidden, (request, reply) => sendSegment(deps, request, reply))
  app.get<LivePartRoute>('/media/outputs/:request_id/live/:part', hidden, (request, reply) =>
    sendLivePart(deps, request, reply),
  )
  for (const path of [
    '/media/outputs/:request_id/:part',
    '/media/outputs/:request_id/:place/:part',
  ]) {
    app.get<OutputRoute>(path, hidden, (request, reply) => sendOutput(deps, request, reply))
  }
}

/** Only engines get addresses of checkpoints, with their jobs. */
async function sendSegment(
  deps: MediaDeps,
  request: FastifyRequest<SegmentRoute>,
  reply: FastifyReply,
) {
  const { request_id: requestId, segment } = request.params
  const key = segmentKey(requestId, Number(segment))
  const { audience } = checkAddress(request, { method: 'GET', key, audiences: ['engine'] }, deps)
  const described = { contentType: 'application/octet-stream', fileName: 'checkpoint' }
  return sendMedia(deps, request, reply, { audience, key, ...described })
}

/** The outputs replace a live preview when the request has ended. */
async function sendLivePart(
  deps: MediaDeps,
  request: FastifyRequest<LivePartRoute>,
  reply: FastifyReply,
) {
  const { request_id: requestId, part } = request.params
  const key = livePartKey(requestId, Number(part))
  const { audience } = checkAddress(request, { method: 'GET', key, audiences: ['client'] }, deps)
  const row = await findRequest(deps.store, requestId)
  if (!row || isTerminal(row.status)) throw new ServiceError('NOT_FOUND')
  const described = { contentType: 'application/octet-stream', fileName: 'preview' }
  return sendMedia(deps, request, reply, { audience, key, ...described })
}

async function sendInput(
  deps: MediaDeps,
  request: FastifyRequest<InputRoute>,
  reply: FastifyReply,
) {
  const { file_id: fileId } = request.params
  const address = { method: 'GET', key: inputKey(fileId), audiences: ['engine'] } as const
  const { audience } = checkAddress(request, address, deps)
  const file = await findFile(deps.store, fileId)
  if (!file || file.media_removed_at !== null) throw new ServiceError('NOT_FOUND')
  return sendMedia(deps, request, reply, {
    audience,
    key: inputKey(fileId),
    contentType: file.content_type,
    fileName: file.file_name,
  })
}

async function sendOutput(
  deps: MediaDeps,
  request: FastifyRequest<OutputRoute>,
  reply: FastifyReply,
) {
  const { request_id: requestId, place, part } = request.params
  const address = {
    method: 'GET',
    key: outputKey(requestId, part, place),
    audiences: ['client', 'engine'], // an engine reads an output that a later request separates
  } as const
  const { audience } = checkAddress(request, address, deps)
  const row = await findRequest(deps.store, requestId)
  if (row?.status !== 'COMPLETED' || row.media_removed_at !== null) {
    throw new ServiceError('NOT_FOUND')
  }
  const stored = storedPart(row, part)
  if (!stored) throw new ServiceError('NOT_FOUND')
  const { content_type: contentType, fileName } = stored
  const key = outputKey(requestId, part, stored.place)
  return sendMedia(deps, request, reply, { audience, key, contentType, fileName })
}

interface Media {
  audience: Audience
  key: string
  contentType: string
  fileName: string
}

async function sendMedia(
  { mediaStore, config: { mediaAccelPath } }: MediaDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  media: Media,
) {
  const { [FOLDER_HEADER]: folderName } = request.headers
  const isNamed = typeof folderName === 'string' && media.audience === 'engine'
  if (isNamed && (await mediaStore.handOver(media.key, folderName))) {
    return reply.status(204).send()
  }
  const described = {
    'content-type': media.contentType,
    'content-disposition': contentDisposition(media.fileName),
  }
  if (mediaAccelPath !== undefined && media.audience === 'client' && mayAccelerate(request)) {
    const place = { 'x-accel-redirect': mediaAccelPath + media.key }
    return reply.headers({ ...described, ...place }).send()
  }
  const { status, headers, body } = await mediaStore.reply(media.key, request.raw)
  return reply
    .status(status)
    .headers({ ...described, ...headers })
    .send(body)
}

/**
 * Returns whether a trusted proxy asks and may send the file itself. For pages of other origins it
 * may not, because nginx would drop our headers.
 */
const mayAccelerate = ({ ips = [], headers }: FastifyRequest): boolean =>
  ips.length > 1 && headers.origin === undefined
