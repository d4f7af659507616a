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
import type { Settings } from '../config.ts'

interface MediaDeps {
  store: Store
  mediaStore: LocalDisk
  clock: Clock
  config: Settings<'mediaAccelPath'>
}

interface OutputRoute {
  /** What 0.2.0 stored has no place. */
  Params: { request_id: string; place?: string; part: OutputPart }
}

const OCTETS = 'application/octet-stream'

/**
 * Serves downloads at signed addresses, whole or by range: inputs and checkpoints to engines, live
 * previews to clients, outputs to both.
 */
export function mediaRoutes(app: FastifyInstance, deps: MediaDeps): void {
  inputRoute(app, deps)
  temporaryRoutes(app, deps)
  const outputs = '/media/outputs/:request_id'
  for (const path of [`${outputs}/:part`, `${outputs}/:place/:part`]) outputRoute(app, deps, path)
}

function inputRoute(app: FastifyInstance, deps: MediaDeps): void {
  app.get<{ Params: { file_id: string } }>(
    '/media/inputs/:file_id',
    hidden,
    async (request, reply) => {
      const { file_id: fileId } = request.params
      const key = inputKey(fileId)
      const { audience } = checkAddress(request, { key, audiences: ['engine'] }, deps)
      const file = await findFile(deps.store, fileId)
      if (!file || file.media_removed_at !== null) throw new ServiceError('NOT_FOUND')
      const { content_type: contentType, file_name: fileName } = file
      return sendMedia(deps, request, reply, { audience, key, contentType, fileName })
    },
  )
}

/**
 * Serves checkpoints to engines, and live previews, which the outputs replace when the request has
 * ended.
 */
function temporaryRoutes(app: FastifyInstance, deps: MediaDeps): void {
  app.get<{ Params: { request_id: string; segment: string } }>(
    '/media/outputs/:request_id/checkpoint/:segment',
    hidden,
    async (request, reply) => {
      const { request_id: requestId, segment } = request.params
      const key = segmentKey(requestId, Number(segment))
      const { audience } = checkAddress(request, { key, audiences: ['engine'] }, deps)
      const media = { audience, key, contentType: OCTETS, fileName: 'checkpoint' }
      return sendMedia(deps, request, reply, media)
    },
  )
  app.get<{ Params: { request_id: string; part: string } }>(
    '/media/outputs/:request_id/live/:part',
    hidden,
    async (request, reply) => {
      const { request_id: requestId, part } = request.params
      const key = livePartKey(requestId, Number(part))
      const { audience } = checkAddress(request, { key, audiences: ['client'] }, deps)
      const row = await findRequest(deps.store, requestId)
      if (!row || isTerminal(row.status)) throw new ServiceError('NOT_FOUND')
      const media = { audience, key, contentType: OCTETS, fileName: 'preview' }
      return sendMedia(deps, request, reply, media)
    },
  )
}

function outputRoute(app: FastifyInstance, deps: MediaDeps, path: string): void {
  app.get<OutputRoute>(path, hidden, async (request, reply) => {
    const { request_id: requestId, place, part } = request.params
    const key = outputKey(requestId, part, place)
    // an engine reads an output that a later request separates
    const { audience } = checkAddress(request, { key, audiences: ['client', 'engine'] }, deps)
    const row = await findRequest(deps.store, requestId)
    const isKept = row?.status === 'COMPLETED' && row.media_removed_at === null
    const stored = isKept ? storedPart(row, part) : undefined
    if (!stored) throw new ServiceError('NOT_FOUND')
    const { content_type: contentType, fileName } = stored
    return sendMedia(deps, request, reply, { audience, key, contentType, fileName })
  })
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
 * Returns whether a trusted proxy asks to send the file itself, and may. For pages of other origins
 * it may not, because nginx would drop our CORS headers.
 */
const mayAccelerate = ({ ips = [], headers }: FastifyRequest): boolean =>
  ips.length > 1 && headers.origin === undefined
