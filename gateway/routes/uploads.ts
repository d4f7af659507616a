import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import { FILE_HEADER } from '../../shared/hand-over.ts'
import { withDeadline } from '../../shared/deadline.ts'
import type { OutputPart } from '../../shared/messages.ts'
import { isTerminal } from '../../shared/request-status.ts'
import { uploadTimes } from '../files/times.ts'
import { checkAddress, type MediaDeps } from '../api/media-address.ts'
import type { StagedMedia, StageLimits } from '../media-store/media-store.ts'
import { inTransaction, type Store } from '../store/database.ts'
import { findFile, markFileUploaded } from '../store/files.ts'
import { findRequest } from '../store/requests.ts'
import { inputKey, outputKey } from '../store/retention.ts'
import { UploadTurns } from '../files/upload-turns.ts'

interface InputRoute {
  Params: { file_id: string }
}

type UploadDeps = MediaDeps & { turns: UploadTurns }

interface OutputRoute {
  Params: { request_id: string; part: OutputPart }
}

/** Uploads by signed address: inputs by clients, once; outputs by engines, until the end. */
export function uploadRoutes(app: FastifyInstance, deps: MediaDeps): void {
  const turns = new UploadTurns()
  // Bodies are bytes of any type: the handlers read them from the socket.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  app.put<InputRoute>('/media/inputs/:file_id', { schema: { hide: true } }, (request, reply) =>
    takeInput({ ...deps, turns }, request, reply),
  )
  app.put<OutputRoute>(
    '/media/outputs/:request_id/:part',
    { schema: { hide: true } },
    (request, reply) => takeOutput({ ...deps, turns }, request, reply),
  )
  app.post<OutputRoute>(
    '/media/outputs/:request_id/:part',
    { schema: { hide: true } },
    (request, reply) => adoptOutput({ ...deps, turns }, request, reply),
  )
}

async function takeInput(
  deps: UploadDeps,
  request: FastifyRequest<InputRoute>,
  reply: FastifyReply,
) {
  const { store, clock, config, turns } = deps
  const { file_id: fileId } = request.params
  const { size } = checkAddress(request, 'PUT', inputKey(fileId), deps)
  const file = await findFile(store, fileId)
  if (!file || size === undefined) throw new ServiceError('NOT_FOUND')
  if (file.uploaded_at !== null) throw new ServiceError('FILE_ALREADY_UPLOADED')
  checkContentLength(request, size)
  // `AbortSignal.timeout` would keep a list in Node's timers for each until its time has come.
  const ms = Math.max(0, Date.parse(file.expires_at) - clock.now())
  const key = inputKey(fileId)
  const hash = createHash('sha256')
  const claim = async (store: Store) => {
    if (await markFileUploaded(store, fileId, uploadTimes(clock.now(), config))) return
    const known = await findFile(store, fileId)
    throw known?.uploaded_at ? new ServiceError('FILE_ALREADY_UPLOADED') : tooLate()
  }
  await turns.replacing(key, (signal) =>
    withDeadline({ ms, late: tooLate, signal }, (deadline) =>
      keepBody(deps, request, {
        key,
        bytes: size,
        signal: deadline,
        onPiece: (piece) => hash.update(piece),
        claim,
      }),
    ),
  )
  return reply.header('etag', `"${hash.digest('hex')}"`).send()
}

const tooLate = () =>
  new ServiceError('FILE_EXPIRED', {
    message: 'The upload was not finished before its address expired; create the file anew.',
  })

/** Refuses a wrong length before the body is sent. */
function checkContentLength({ headers }: FastifyRequest, size: number): void {
  const chunked = headers['transfer-encoding'] !== undefined
  const given = headers['content-length'] ?? (chunked ? undefined : '0')
  if (given === undefined || Number(given) === size) return
  throw new ServiceError('INVALID_REQUEST', {
    message: `Content-Length is ${given}; file_size is ${size}.`,
  })
}

async function takeOutput(
  deps: UploadDeps,
  request: FastifyRequest<OutputRoute>,
  reply: FastifyReply,
) {
  const { key, claim } = outputOf(deps, request)
  await claim(deps.store) // before the body is sent, where possible
  await deps.turns.alone(key, (signal) => keepBody(deps, request, { key, signal, claim }))
  return reply.send()
}

/** Keeps a file of an engine on this host, which names it instead of sending its bytes. */
async function adoptOutput(
  deps: UploadDeps,
  request: FastifyRequest<OutputRoute>,
  reply: FastifyReply,
) {
  const { key, claim } = outputOf(deps, request)
  const { [FILE_HEADER]: name } = request.headers
  await deps.turns.alone(key, async () => {
    const staged = await deps.mediaStore.adopt(String(name))
    if (!staged) throw new ServiceError('NOT_FOUND')
    await keepStaged(deps.store, staged, { key, claim })
  })
  return reply.status(204).send()
}

/** What a signed address for an output allows: until its request has ended. */
function outputOf(
  deps: UploadDeps,
  request: FastifyRequest<OutputRoute>,
): Pick<Keeping, 'key' | 'claim'> {
  const { request_id: requestId, part } = request.params
  const key = outputKey(requestId, part)
  checkAddress(request, 'PUT', key, deps)
  const claim = async (store: Store) => {
    const row = await findRequest(store, requestId)
    if (!row) throw new ServiceError('NOT_FOUND')
    if (isTerminal(row.status)) throw new ServiceError('REQUEST_FINISHED')
  }
  return { key, claim }
}

interface Keeping extends Omit<StageLimits, 'silentMsMax'> {
  key: string
  /** Checks that the key may be written, in the transaction that writes it. */
  claim: (store: Store) => Promise<void>
}

/**
 * Stores the body of `request`. Nothing is claimed before the body is complete, so that an aborted
 * upload blocks no other.
 */
async function keepBody(
  { store, mediaStore, config }: MediaDeps,
  { raw }: FastifyRequest,
  { key, claim, ...limits }: Keeping,
): Promise<void> {
  const silentMsMax = 1_000 * config.bodySecondsMax
  const staged = await mediaStore.stage(raw, { ...limits, silentMsMax })
  await keepStaged(store, staged, { key, claim })
}

async function keepStaged(
  store: Store,
  staged: StagedMedia,
  { key, claim }: Pick<Keeping, 'key' | 'claim'>,
): Promise<void> {
  try {
    await inTransaction(store, async (store) => {
      await claim(store)
      await staged.place(key)
    })
  } finally {
    await staged.discard()
  }
}
