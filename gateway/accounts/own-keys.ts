/**
 * The keys of an account, managed with one of them that has the scope `keys:manage`. No key can
 * grant more rights than it has itself, nor for longer (docs/decisions/accounts.md).
 */

import { isoTime } from '../../shared/clock.ts'
import { DAY_MS, DAY_SECONDS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { listKeysSince } from '../store/api-keys.ts'
import { countChanges } from '../store/changes.ts'
import { oneAtATime, type Store } from '../store/database.ts'
import type { ApiKeyRow } from '../store/schema/tables.ts'
import {
  createKey,
  noKey,
  outlives,
  presentKey,
  revokeKey,
  rotateKey,
  type AccountDeps,
  type KeyCheck,
} from './accounts.ts'
import { isValid } from './auth.ts'
import { checkCreateOwnKey } from './schemas.ts'

/**
 * Limits of one account. The record of changes is kept for good, so clients must not be able to
 * fill it.
 */
export const OWN_KEYS = { validMax: 100, changesPerDayMax: 100, daysShown: 30 } as const

const TOOL = 'account_api'

export interface OwnKeyDeps extends AccountDeps {
  /** The key that the call was made with. */
  caller: ApiKeyRow
  client: string
}

/**
 * Returns the keys that are valid, or that ended in the last `daysShown` days, oldest first,
 * without their secrets.
 */
export async function ownKeys({ store, clock, caller }: OwnKeyDeps) {
  const since = isoTime(clock.now() - OWN_KEYS.daysShown * DAY_MS)
  const keys = await listKeysSince(store, caller.account_id, since)
  return { object: 'list', data: keys.map(presentKey), current_key_id: caller.key_id }
}

/**
 * Creates a key that has the limits of the caller's key, or a lower class, and expires no later.
 * @throws ServiceError what is wrong with `body`, a CreateOwnKeyRequest; `PERMISSION_DENIED`;
 *   `RATE_LIMITED`
 */
export const createOwnKey = (deps: OwnKeyDeps, body: unknown) =>
  createKey(
    authored(deps),
    { ...checkCreateOwnKey(body), account_id: deps.caller.account_id },
    {
      maker: deps.caller,
      async check(store, key) {
        assertNoMore(deps.caller, key)
        await assertMayChange(deps, store, 'keys')
        await assertRoom(deps, store)
      },
    },
  )

/**
 * Gives a key of the account a new secret.
 * @throws ServiceError `NOT_FOUND`, also for keys of others; `PERMISSION_DENIED`; `RATE_LIMITED`
 */
export const rotateOwnKey = (deps: OwnKeyDeps, keyId: string) =>
  rotateKey(authored(deps), keyId, async (store, key) => {
    await assertOwn(deps)(store, key)
    assertNoMore(deps.caller, key)
    await assertMayChange(deps, store, 'keys')
  })

/**
 * Revokes a key of the account. That key may have more rights than the caller's, because revoking
 * it grants none.
 * @throws ServiceError `NOT_FOUND`, also for keys of others
 */
export const revokeOwnKey = (deps: OwnKeyDeps, keyId: string) =>
  revokeKey(authored(deps), keyId, assertOwn(deps))

/** Returns what the record of changes needs, for a change that a key makes to its account. */
export const authored = ({ store, clock, caller, client }: OwnKeyDeps) => ({
  ...{ store, clock, by: caller.key_id },
  author: { tool: TOOL, origin: client } as const,
})

const assertOwn =
  ({ caller }: OwnKeyDeps): KeyCheck =>
  (_store, key) => {
    if (key.account_id !== caller.account_id) throw noKey(key.key_id)
  }

type Rights = Pick<ApiKeyRow, 'scopes' | 'expires_at' | 'own_calls_per_minute' | 'own_priority'>

function assertNoMore(caller: Rights, key: Rights): void {
  const held = JSON.parse(caller.scopes) as string[]
  const further = (JSON.parse(key.scopes) as string[]).filter((scope) => !held.includes(scope))
  if (further.length > 0) {
    const message = `The API key lacks ${further.join(', ')}, so it can't give it to another key.`
    throw new ServiceError('PERMISSION_DENIED', { message })
  }
  const { own_calls_per_minute: limit } = caller
  if (limit !== null && (key.own_calls_per_minute ?? Infinity) > limit) {
    const message = `The key may make more calls a minute than yours (${limit}).`
    throw new ServiceError('PERMISSION_DENIED', { message })
  }
  if (caller.own_priority === 'batch' && key.own_priority !== 'batch') {
    const message = 'The key may send interactive requests, and yours may not (priority: batch).'
    throw new ServiceError('PERMISSION_DENIED', { message })
  }
  if (!outlives(key.expires_at, caller.expires_at)) return
  const message = `The key expires after yours (${caller.expires_at}), which can't rotate it.`
  throw new ServiceError('PERMISSION_DENIED', { message })
}

/** The changes that are counted together, so that one kind can't use up another. */
const COUNTED = {
  keys: { actions: ['key.create', 'key.rotate', 'key.revoke'], verbs: 'make and rotate' },
  endpoints: {
    actions: ['endpoint.create', 'endpoint.change', 'endpoint.rotate', 'endpoint.delete'],
    verbs: 'make, change and rotate',
  },
  replays: { actions: ['endpoint.replay'], verbs: 'begin' },
} as const

/**
 * Lets the account's changes of a kind go one at a time until the transaction ends.
 * @throws ServiceError `RATE_LIMITED`
 */
export async function assertMayChange(
  { clock, caller }: OwnKeyDeps,
  store: Store,
  what: keyof typeof COUNTED,
): Promise<void> {
  const accountId = caller.account_id
  await oneAtATime(store, `${what} ${accountId}`)
  const { actions, verbs } = COUNTED[what]
  const changes = { accountId, tool: TOOL, actions } as const
  const most = OWN_KEYS.changesPerDayMax
  const from = isoTime(clock.now() - DAY_MS)
  if ((await countChanges(store, { ...changes, from })) < most) return
  const message = `An account may ${verbs} ${most} ${what} in 24 hours.`
  throw new ServiceError('RATE_LIMITED', { message, retryAfterSeconds: DAY_SECONDS })
}

async function assertRoom({ clock, caller }: OwnKeyDeps, store: Store): Promise<void> {
  const now = clock.now()
  const keys = await listKeysSince(store, caller.account_id, isoTime(now))
  if (keys.filter((key) => isValid(key, now)).length < OWN_KEYS.validMax) return
  const message = `An account may have ${OWN_KEYS.validMax} valid keys: revoke one.`
  throw new ServiceError('RATE_LIMITED', { message, retryAfterSeconds: DAY_SECONDS })
}
