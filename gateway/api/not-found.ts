/** Responds when no route matches: with 405 if the path has other methods, otherwise with 404. */

import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'

/** Install it before the routes, whose paths it collects. */
export function installNotFound(app: FastifyInstance): void {
  const routes: { path: RegExp; methods: string[] }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    const path = new RegExp(`^${url.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}$`)
    routes.push({ path, methods: [method].flat() })
  })
  // Before the body is parsed, because an invalid body must not hide a wrong method.
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return
    const [path = ''] = request.url.split('?')
    const fitting = routes.filter((route) => route.path.test(path))
    const methods = fitting.flatMap((route) => route.methods)
    if (methods.length === 0) throw new ServiceError('NOT_FOUND')
    const allow = [...new Set(methods)].sort().join(', ')
    reply.header('allow', allow)
    throw new ServiceError('METHOD_NOT_ALLOWED', {
      message: `This address takes ${allow}, not ${request.method}.`,
    })
  })
}
