import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import type { Settings } from '../config.ts'
import { chooseCopy, protectPage, typeOf, type PageAddresses } from './page.ts'
import { PLAYGROUND } from './sessions.ts'
import { hidden } from './common.ts'

/** Assets have a hash in their name, so they never change. */
const FOR_A_YEAR = 'public, max-age=31536000, immutable'

/** The page encodes FLAC and MP3 with WebAssembly, in workers that its script creates. */
const SCRIPTS = ["script-src 'self' 'wasm-unsafe-eval'", 'worker-src blob:']

/** The document of the page by whom it is for: one for admins has no views for clients. */
const DOCUMENTS = { all: 'index.html', clients: 'clients.html', admins: 'admins.html' } as const

interface Playground {
  config: PageAddresses & Settings<'playgroundFolder'>
  audience: keyof typeof DOCUMENTS
}

/** Serves the page at `/`, as set-up has made it. It is small, so it is read once. */
export function playgroundRoutes(app: FastifyInstance, { config, audience }: Playground): void {
  const { playgroundFolder: folder } = config
  const page = readFiles(folder)
  const assets = readFiles(join(folder, 'assets'))
  app.get('/', hidden, async (request, reply) => {
    protectPage(reply, config, SCRIPTS)
    const absent = 'The page is not built here: `npm run setup` builds it.'
    return send(page, DOCUMENTS[audience], { request, reply, absent, caching: 'no-cache' })
  })
  app.get<{ Params: { name: string } }>(
    `${PLAYGROUND}/assets/:name`,
    hidden,
    async (request, reply) => {
      const absent = 'There is no such asset.'
      return send(assets, request.params.name, { request, reply, absent, caching: FOR_A_YEAR })
    },
  )
}

type Files = ReadonlyMap<string, Buffer>

/** Returns the files of a folder by name; none if the folder does not exist. */
function readFiles(folder: string): Files {
  const isUnexpected = (error: unknown) => (error as NodeJS.ErrnoException).code !== 'ENOENT'
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
    return new Map(names.map((name) => [name, readFileSync(join(folder, name))]))
  } catch (error) {
    if (isUnexpected(error)) throw error
    return new Map()
  }
}

interface Sending {
  request: FastifyRequest
  reply: FastifyReply
  /** The message if there is no such file. */
  absent: string
  caching: string
}

function send(files: Files, name: string, sending: Sending): FastifyReply {
  const { reply, absent, caching } = sending
  const type = typeOf(name)
  if (!files.has(name) || type === undefined)
    throw new ServiceError('NOT_FOUND', { message: absent })
  const copy = chooseCopy(name, (copy) => files.has(copy), sending)
  return reply.header('cache-control', caching).type(type).send(files.get(copy))
}
