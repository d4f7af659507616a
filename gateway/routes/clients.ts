import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import type { Settings } from '../config.ts'
import { hidden } from './common.ts'

/** The kinds of packages; `stable` is the name of the file without the version. */
const KINDS = [
  {
    ...{ ending: '.tgz', language: 'typescript', stable: 'winnow-client.tgz' },
    type: 'application/gzip',
  },
  {
    ...{ ending: '.whl', language: 'python', stable: 'winnow_client.whl' },
    type: 'application/zip',
  },
] as const

type ClientsConfig = Settings<'publicUrl' | 'clientsFolder'>

/**
 * Serves the packages of this service's clients at `/clients`, to anybody. They are small, so they
 * are read once.
 */
export function clientRoutes(app: FastifyInstance, { config }: { config: ClientsConfig }): void {
  const packages = readPackages(config.clientsFolder)
  app.get('/clients', hidden, async (_request, reply) => {
    const data = packages.map(({ language, name, sha256, bytes }) => ({
      ...{ language, file_name: name, sha256, file_size: bytes.length },
      url: `${config.publicUrl()}/clients/${name}`,
    }))
    return reply.header('cache-control', 'no-cache').send({ object: 'list', data })
  })
  app.get<{ Params: { name: string } }>('/clients/:name', hidden, async (request, reply) => {
    const { name } = request.params
    const clientPackage = packages.find(
      (candidate) => candidate.name === name || candidate.stable === name,
    )
    if (!clientPackage) throw new ServiceError('NOT_FOUND', { message: absence(packages) })
    reply.header('cache-control', 'no-cache')
    // pip reads a wheel's version from its file name.
    if (name !== clientPackage.name) return reply.redirect(clientPackage.name, 302)
    const tag = `"${clientPackage.sha256}"`
    reply.header('etag', tag)
    if (request.headers['if-none-match'] === tag) return reply.status(304).send()
    return reply.type(clientPackage.type).send(clientPackage.bytes)
  })
}

type Packages = ReturnType<typeof readPackages>

function readPackages(folder: string) {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return KINDS.flatMap(({ ending, ...kind }) => {
    const name = names.find((name) => name.endsWith(ending))
    if (name === undefined) return []
    const bytes = readFileSync(join(folder, name))
    return [{ ...kind, name, bytes, sha256: createHash('sha256').update(bytes).digest('hex') }]
  })
}

const absence = (packages: Packages): string =>
  packages.length === 0
    ? 'The clients are not packed here: `npm run setup` packs them.'
    : `There is only ${packages.map(({ name }) => name).join(' and ')}.`
