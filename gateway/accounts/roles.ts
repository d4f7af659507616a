/** What admins may do by their role. A call that is not listed here is for owners. */

import { ServiceError } from '../../shared/errors.ts'

/** Each may do all that those before it may. */
export const ROLES = ['viewer', 'operator', 'owner'] as const

export type Role = (typeof ROLES)[number]

/** Who calls the admin API. Subject and name are null for the holder of ADMIN_TOKEN. */
export interface Admin {
  role: Role
  /** As the provider of OpenID Connect knows the admin. */
  subject: string | null
  /** For people: an e-mail address, or a name. */
  name: string | null
}

/** The holder of ADMIN_TOKEN, or of a session of it. */
export const TOKEN_HOLDER: Admin = { role: 'owner', subject: null, name: null }

const READS = ['GET', 'HEAD']

/** Calls that keep the service running, and that can be undone. */
const OF_OPERATORS: readonly string[] = [
  'POST /admin/requests/:request_id/cancel',
  'POST /admin/requests/:request_id/redeliver',
  'POST /admin/models/:name/fetch',
  'POST /admin/models/:name/load',
  'POST /admin/models/:name/unload',
  'DELETE /admin/models/:name',
  'POST /admin/engines/:engine_id/drain',
  'POST /admin/accounts/:account_id/disable',
  'POST /admin/accounts/:account_id/enable',
  'PUT /admin/accounts/:account_id/limits',
  'PUT /admin/keys/:key_id/limits',
]

/** Everybody may end their own session. */
const OF_VIEWERS: readonly string[] = ['DELETE /admin/session']

/**
 * Returns the lowest role that may make a call.
 * @param route such as `/admin/keys/:key_id/limits`
 */
export function roleFor(method: string, route: string): Role {
  const call = `${method} ${route}`
  if (READS.includes(method) || OF_VIEWERS.includes(call)) return 'viewer'
  return OF_OPERATORS.includes(call) ? 'operator' : 'owner'
}

/** @throws ServiceError `PERMISSION_DENIED` that names both roles */
export function assertRole({ role }: Admin, least: Role): void {
  if (ROLES.indexOf(role) >= ROLES.indexOf(least)) return
  const message = `This takes the role ${least}, and you are signed in as ${role}: ask an owner.`
  throw new ServiceError('PERMISSION_DENIED', { message })
}
