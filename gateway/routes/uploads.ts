import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import { FILES_HEADER, readFileNames } from '../../shared/hand-over.ts'
import { SEGMENT_BYTES_MAX } from '../../shared/checkpoint.ts'
import { LIVE_PART_BYTES_MAX } from '../../shared/live-preview.ts'
import { withDeadline } from '../../shared/deadline.ts'
import { isOutputPart, type OutputPart } from '../../shared/messages.ts'
import { ATTEMPT_HEADER, isPlace, PLACE_HEADER } from '../../shared/output-places.ts'
import { isTerminal } from '../../shared/request-status.ts'
import { uploadTimes } from '../files/times.ts'
import { checkAddress } from '../api/media-address.ts'
import type { LocalDisk, StagedMedia, StageLimits } from '../media-store/media-store.ts'
import { inTransaction, isPostgres, type Store } from '../store/database.ts'
import { fileStatus, findFile, markFileUploaded } from '../store/files.ts'
import { findRequest } from '../store/requests.ts'
import {
  inputKey,
  livePartKey,
  outputKey,
  outputsKey,
  placeKey,
  segmentKey,
} from '../media-store/keys.ts'
import { orphanOf } from '../store/retention.ts'
import type { FileRow } from '../store/schema/tables.ts'
import { UploadTurns } from '../files/upload-turns.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Settings } from '../config.ts'
import { hidden, type RequestRoute } from './common.ts'

interface MediaDeps {
  store: Store
  mediaStore: LocalDisk
  clock: Clock
  config: Settings<'fileHours' | 'bodySecondsMax'>
}

type UploadDeps = MediaDeps & { turns: UploadTurns }

/** What is stored of a request only until it ends. */
const TEMPORARY = {
  checkpoint: { keyOf: segmentKey, bytesMax: SEGMENT_BYTES_MAX },
  live: { keyOf: livePartKey, bytesMax: LIVE_PART_BYTES_MAX },
}

/**
 * Receives uploads at signed addresses: inputs from clients, once; outputs, checkpoints and live
 * previews from engines, until the request has ended.
 */
export function uploadRoutes(app: FastifyInstance, deps: MediaDeps): void {
  const uploadDeps = { ...deps, turns: new UploadTurns() }
  // Bodies are bytes of any type: the handlers read them from the socket.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  inputRoute(app, uploadDeps)
  outputRoutes(app, uploadDeps)
  temporaryRoutes(app, uploadDeps)
}

function inputRoute(app: FastifyInstance, deps: UploadDeps): void {
  const { store, clock, turns } = deps
  app.put<{ Params: { file_id: string } }>(
    '/media/inputs/:file_id',
    hidden,
    async (request, reply) => {
      const { file_id: fileId } = request.params
      const key = inputKey(fileId)
      const { size } = checkAddress(request, { key, audiences: ['client'] }, deps)
      const file = await findFile(store, fileId)
      if (!file || size === undefined) throw new ServiceError('NOT_FOUND')
      if (file.uploaded_at !== null) throw refusal(file)
      checkContentLength(request, size)
      // `AbortSignal.timeout` would hold a timer for each upload until its time has come.
      const ms = Math.max(0, Date.parse(file.expires_at) - clock.now())
      const hash = createHash('sha256')
      const onPiece = (piece: Buffer) => hash.update(piece)
      await turns.replacing(key, (signal) =>
        withDeadline({ ms, timeoutError: tooLate, signal }, async (deadline) => {
          const staged = await stageBody(deps, request, { bytes: size, signal: deadline, onPiece })
          try {
            await keepInput(deps, staged, fileId)
          } finally {
            await staged.discard()
          }
        }),
      )
      return reply.header('etag', `"${hash.digest('hex')}"`).send()
    },
  )
}

/**
 * Puts a complete file in its place and marks it as uploaded. With SQLite there is only one
 * gateway, in which `turns` keeps other uploads away, and only one transaction at a time, which
 * must not wait for a disk. With PostgreSQL another gateway may be receiving the same file, so the
 * row is locked until the bytes are in place.
 */
async function keepInput(deps: UploadDeps, staged: StagedMedia, fileId: string): Promise<void> {
  const { store, mediaStore, clock, config } = deps
  const key = inputKey(fileId)
  const isNoted = (store: Store) =>
    markFileUploaded(store, fileId, uploadTimes(clock.now(), config))
  if (isPostgres(store)) {
    await inTransaction(store, async (store) => {
      if (!(await isNoted(store))) throw refusal(await findFile(store, fileId))
      await staged.place(key)
    })
    return
  }
  const before = await findFile(store, fileId)
  if (!before || fileStatus(before, clock.now()) !== 'pending') throw refusal(before)
  await staged.place(key)
  if (await isNoted(store)) return
  const file = await findFile(store, fileId)
  // Otherwise the file has expired, and the sweeper will delete its bytes.
  if (!file || file.media_removed_at !== null) await mediaStore.remove(key)
  throw refusal(file)
}

function refusal(file: FileRow | undefined): ServiceError {
  if (!file) return new ServiceError('NOT_FOUND', { message: 'The file was deleted.' })
  return file.uploaded_at ? new ServiceError('FILE_ALREADY_UPLOADED') : tooLate()
}

const tooLate = () =>
  new ServiceError('FILE_EXPIRED', {
    message: 'The upload was not finished before its address expired; create the file again.',
  })

/** Refuses a wrong length before the body is sent. */
function checkContentLength({ headers }: FastifyRequest, size: number): void {
  const chunked = headers['transfer-encoding'] !== undefined
  const contentLength = headers['content-length'] ?? (chunked ? undefined : '0')
  if (contentLength === undefined || Number(contentLength) === size) return
  throw new ServiceError('INVALID_REQUEST', {
    message: `Content-Length is ${contentLength}; file_size is ${size}.`,
  })
}

interface OutputRoute {
  Params: { request_id: string; part: OutputPart }
}

function outputRoutes(app: FastifyInstance, deps: UploadDeps): void {
  app.put<OutputRoute>('/media/outputs/:request_id/:part', hidden, async (request, reply) => {
    const { request_id: requestId, part } = request.params
    checkAddress(request, { key: outputKey(requestId, part), audiences: ['engine'] }, deps)
    const { [ATTEMPT_HEADER]: place } = request.headers
    if (!isPlace(place)) {
      const message = `${ATTEMPT_HEADER} must be the id of an attempt.`
      throw new ServiceError('INVALID_REQUEST', { message })
    }
    const key = outputKey(requestId, part, place)
    await assertOpen(deps, requestId) // before the body is sent, where possible
    await deps.turns.alone(key, async (signal) => {
      await keepOutput(deps, await stageBody(deps, request, { signal }), { key, requestId })
    })
    return reply.header(PLACE_HEADER, place).send()
  })
  app.post<RequestRoute>('/media/outputs/:request_id', hidden, (request, reply) =>
    adoptOutputs(deps, request, reply),
  )
}

/**
 * Takes over files from an engine on this host, which names them instead of sending their bytes.
 */
async function adoptOutputs(
  deps: UploadDeps,
  request: FastifyRequest<RequestRoute>,
  reply: FastifyReply,
) {
  const { request_id: requestId } = request.params
  checkAddress(request, { key: outputsKey(requestId), audiences: ['engine'] }, deps)
  const { [FILES_HEADER]: text, [ATTEMPT_HEADER]: place } = request.headers
  const names = readFileNames(text)
  if (!names || ![...names.keys()].every(isOutputPart) || !isPlace(place)) {
    throw new ServiceError('INVALID_REQUEST', {
      message:
        `${FILES_HEADER} must be part=name, with commas between them, and ${ATTEMPT_HEADER} ` +
        'the id of an attempt.',
    })
  }
  const key = placeKey(requestId, place)
  await deps.turns.alone(key, async () => {
    const staged = await deps.mediaStore.adopt(names)
    if (!staged) throw new ServiceError('NOT_FOUND')
    await keepOutput(deps, staged, { key, requestId })
  })
  return reply.header(PLACE_HEADER, place).status(204).send()
}

/**
 * The share of the free space that a checkpoint or a live preview may take. They only save work and
 * time, and the disk is for media.
 */
const ROOM_SHARE_MAX = 1 / 8

/**
 * Adds the routes that receive a part of a checkpoint or of a live preview, which replaces an
 * earlier one.
 */
function temporaryRoutes(app: FastifyInstance, deps: UploadDeps): void {
  for (const [name, { keyOf, bytesMax }] of Object.entries(TEMPORARY)) {
    app.put<{ Params: { request_id: string; number: string } }>(
      `/media/outputs/:request_id/${name}/:number`,
      hidden,
      async (request, reply) => {
        const { request_id: requestId, number } = request.params
        const key = keyOf(requestId, Number(number))
        checkAddress(request, { key, audiences: ['engine'] }, deps)
        await assertOpen(deps, requestId)
        const room = Math.max(0, Math.floor(ROOM_SHARE_MAX * (await deps.mediaStore.bytesLeft())))
        const limits = { bytesMax: Math.min(bytesMax, room) }
        await deps.turns.alone(key, async (signal) => {
          const staged = await stageBody(deps, request, { ...limits, signal })
          await keepOutput(deps, staged, { key, requestId })
        })
        return reply.send()
      },
    )
  }
}

/** @throws ServiceError `REQUEST_FINISHED` */
async function assertOpen({ store }: MediaDeps, requestId: string): Promise<void> {
  const row = await findRequest(store, requestId)
  if (!row || isTerminal(row.status)) throw new ServiceError('REQUEST_FINISHED')
}

/**
 * Puts outputs in their place. No transaction is needed, because the place belongs to one attempt
 * alone. If the request has ended without these outputs in the meantime, they are removed again.
 */
async function keepOutput(
  deps: UploadDeps,
  staged: StagedMedia,
  { key, requestId }: { key: string; requestId: string },
): Promise<void> {
  try {
    await assertOpen(deps, requestId)
    await staged.place(key)
  } finally {
    await staged.discard()
  }
  const orphan = await orphanOf(deps.store, key)
  if (orphan === undefined) return
  await deps.mediaStore.remove(orphan)
  throw new ServiceError('REQUEST_FINISHED')
}

/** Stages the body of `request`; one that breaks off leaves nothing behind. */
const stageBody = (
  { mediaStore, config }: MediaDeps,
  { raw }: FastifyRequest,
  limits: Omit<StageLimits, 'silentMsMax'>,
): Promise<StagedMedia> =>
  mediaStore.stage(raw, { ...limits, silentMsMax: 1_000 * config.bodySecondsMax })
