import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { send } from '@fastify/send'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import { chooseCopy, protectPage, typeOf, type PageAddresses } from './page.ts'

const NOT_BUILT = 'The documents are not built here: `npm run winnow -- docs` builds them.'
const NO_PAGE = 'There is no such page of the documents.'

const hidden = { schema: { hide: true } }

export interface DocsConfig extends PageAddresses {
  /** The site of the documents, as set-up has made it. */
  docsFolder: string
}

/** The documents at `/docs/` as set-up has made them, with sounds by range as players ask for. */
export function docsRoutes(app: FastifyInstance, { config }: { config: DocsConfig }): void {
  const { docsFolder: root } = config
  const files = new Set(filesBelow(root))
  app.get('/docs', hidden, async (_request, reply) => reply.redirect('docs/', 301))
  app.get<{ Params: { '*': string } }>('/docs/*', hidden, async (request, reply) => {
    const name = nameOf(request.params['*'], files)
    const type = name === undefined ? undefined : typeOf(name)
    if (name === undefined || type === undefined) {
      throw new ServiceError('NOT_FOUND', { message: files.size === 0 ? NOT_BUILT : NO_PAGE })
    }
    const copy = chooseCopy(name, (copy) => files.has(copy), { request, reply })
    const sent = await send(request.raw, encodeURI(copy), { root, cacheControl: false })
    const { statusCode, headers, stream } = sent
    if (sent.type === 'error' && statusCode === 404) throw new ServiceError('NOT_FOUND')
    return protectPage(reply, config)
      .status(statusCode)
      .headers({ ...headers, 'content-type': type, 'cache-control': 'no-cache' })
      .send(stream)
  })
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}

/** The file that an address means: itself, a folder's page, or a page without its ending. */
function nameOf(address: string, files: ReadonlySet<string>): string | undefined {
  const candidates = /(^|\/)$/.test(address)
    ? [`${address}index.html`]
    : [address, `${address}.html`]
  return candidates.find((name) => files.has(name))
}
