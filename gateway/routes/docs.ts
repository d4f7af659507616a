import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { send } from '@fastify/send'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import type { Settings } from '../config.ts'
import { chooseCopy, protectPage, typeOf, type PageAddresses } from './page.ts'
import { hidden } from './common.ts'

const NOT_BUILT = 'The documents are not built here: `npm run winnow -- docs` builds them.'
const NO_PAGE = 'There is no such page of the documents.'

const zip = promisify(gzip)

type DocsConfig = PageAddresses & Settings<'playground' | 'docsFolder'>

/**
 * Serves the documents at `/docs/`, as set-up has made them. Sounds are served by range, because
 * players ask for that.
 */
export function docsRoutes(app: FastifyInstance, { config }: { config: DocsConfig }): void {
  const { docsFolder: root } = config
  const files = new Set(filesBelow(root))
  const pageOf = createPageMaker(config)
  app.get('/docs', hidden, async (_request, reply) => reply.redirect('docs/', 301))
  app.get<{ Params: { '*': string } }>('/docs/*', hidden, async (request, reply) => {
    const name = nameOf(request.params['*'], files)
    const type = name === undefined ? undefined : typeOf(name)
    if (name === undefined || type === undefined) {
      throw new ServiceError('NOT_FOUND', { message: files.size === 0 ? NOT_BUILT : NO_PAGE })
    }
    if (name.endsWith('.html')) {
      return sendPage(await pageOf(name), { request, reply: protectPage(reply, config) })
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

interface DocsPage {
  plain: Buffer
  zipped: Buffer
  etag: string
}

/**
 * Returns a function that makes a page of the documents with this gateway's address and a link to
 * its page. Each page is made once.
 */
function createPageMaker({ docsFolder, publicUrl, playground }: DocsConfig) {
  const pages = new Map<string, DocsPage>()
  return async (name: string): Promise<DocsPage> => {
    const cachedPage = pages.get(name)
    if (cachedPage) return cachedPage
    const toPage = '../'.repeat(name.split('/').length)
    const wayBack =
      playground === 'on' ? `<a class="way-back" href="${toPage}">Back to the page</a>` : ''
    const html = (await readFile(join(docsFolder, name), 'utf8'))
      .replace('<!--way-back-->', wayBack)
      .replace(/<!--service-->[^<]*<!--\/service-->/g, () => escapeHtml(publicUrl()))
    const plain = Buffer.from(html)
    const etag = `"${createHash('sha256').update(plain).digest('base64url')}"`
    const page = { plain, zipped: await zip(plain), etag }
    pages.set(name, page)
    return page
  }
}

const escapeHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function sendPage(
  { plain, zipped, etag }: DocsPage,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const copy = chooseCopy('page', (copy) => copy === 'page.gz', { request, reply })
  reply.headers({ etag, 'cache-control': 'no-cache' }).type(typeOf('page.html')!)
  if (request.headers['if-none-match'] === etag) return reply.status(304).send()
  return reply.send(copy === 'page' ? plain : zipped)
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}

/**
 * Returns the file that an address means: that file, the index page of a folder, or a page without
 * its ending.
 */
function nameOf(address: string, files: ReadonlySet<string>): string | undefined {
  const candidates = /(^|\/)$/.test(address)
    ? [`${address}index.html`]
    : [address, `${address}.html`]
  return candidates.find((name) => files.has(name))
}
