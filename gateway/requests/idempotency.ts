/**
 * Submits that may be sent again: the same Idempotency-Key with the same body gets the same answer,
 * to the byte, for 24 hours. The answer is stored, and sealed since it may hold a webhook's secret;
 * errors are not, so that a refused submit can be put right under its key.
 */

import { createHash } from 'node:crypto'
import { isoTime } from '../../shared/clock.ts'
import { ServiceError } from '../../shared/errors.ts'
import type { Deps } from '../deps.ts'
import { encrypt, decrypt } from '../secrets.ts'
import { findIdempotencyKey, takeIdempotencyKey } from '../store/idempotency-keys.ts'
import type { Store } from '../store/database.ts'
import type { IdempotencyKeyRow } from '../store/tables.ts'

const PARAM = 'Idempotency-Key'
const KEY = /^[!-~]{1,255}$/
const LIFE_MS = 86_400_000

/** A key with the body that it came with. */
export interface IdempotencyKey {
  accountId: string
  key: string
  /** SHA-256 of the body, whatever the order of its fields and its blanks. */
  fingerprint: string
}

type IdempotencyDeps = Pick<Deps, 'store' | 'clock' | 'config'>

/** The key in the header of a submit, if any. @throws ServiceError when it is not a key */
export function readIdempotencyKey(
  header: unknown,
  accountId: string,
  body: unknown,
): IdempotencyKey | undefined {
  if (header === undefined) return undefined
  if (typeof header !== 'string' || !KEY.test(header)) {
    throw new ServiceError('INVALID_PARAMETER', {
      message: `${PARAM} must be given once, with 1 to 255 visible ASCII characters.`,
      param: PARAM,
    })
  }
  return { accountId, key: header, fingerprint: fingerprintOf(body) }
}

function fingerprintOf(body: unknown): string {
  const sorted = (_name: string, value: unknown) =>
    value === null || typeof value !== 'object' || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  try {
    return createHash('sha256').update(JSON.stringify(body, sorted)).digest('hex')
  } catch (cause) {
    // JSON can be read deeper than it can be written
    throw new ServiceError('INVALID_REQUEST', { message: 'The body is nested too deeply.', cause })
  }
}

/**
 * The answer of `submit`, or, when the key was answered before, that answer. `submit` is to call
 * `keepAnswer` in its transaction: of several at once, all but one fail there, and are undone.
 * @throws ServiceError `IDEMPOTENCY_CONFLICT` when the key came with another body
 */
export async function answerOnce(
  deps: IdempotencyDeps,
  given: IdempotencyKey,
  submit: () => Promise<string>,
): Promise<string> {
  const before = await answerGivenBefore(deps, given)
  if (before !== undefined) return before
  try {
    return await submit()
  } catch (error) {
    const lost = error instanceof ServiceError && error.code === 'IDEMPOTENCY_CONFLICT'
    const winners = lost ? await answerGivenBefore(deps, given) : undefined
    if (winners === undefined) throw error
    return winners
  }
}

/**
 * Keeps `answer` for the key, in the transaction of the submit that it answers.
 * @throws ServiceError `IDEMPOTENCY_CONFLICT` when another submit took the key first
 */
export async function keepAnswer(
  store: Store,
  { clock, config }: IdempotencyDeps,
  given: IdempotencyKey,
  { requestId, answer }: { requestId: string; answer: string },
): Promise<void> {
  const now = clock.now()
  const names = { account_id: given.accountId, idempotency_key: given.key }
  const taken = await takeIdempotencyKey(
    store,
    {
      ...names,
      fingerprint: given.fingerprint,
      request_id: requestId,
      sealed_answer: encrypt(config.encryptionKeys, labelOf(names), answer),
      expires_at: isoTime(now + LIFE_MS),
    },
    isoTime(now),
  )
  if (!taken) throw new ServiceError('IDEMPOTENCY_CONFLICT', { param: PARAM })
}

async function answerGivenBefore(
  { store, clock, config }: IdempotencyDeps,
  { accountId, key, fingerprint }: IdempotencyKey,
): Promise<string | undefined> {
  const row = await findIdempotencyKey(store, accountId, key, isoTime(clock.now()))
  if (!row) return undefined
  if (row.fingerprint !== fingerprint) {
    throw new ServiceError('IDEMPOTENCY_CONFLICT', { param: PARAM })
  }
  return decrypt(config.encryptionKeys, labelOf(row), row.sealed_answer)
}

const labelOf = ({
  account_id,
  idempotency_key,
}: Pick<IdempotencyKeyRow, 'account_id' | 'idempotency_key'>): string =>
  JSON.stringify(['idempotent answer', account_id, idempotency_key])
