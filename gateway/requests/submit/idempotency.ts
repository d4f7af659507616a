/**
 * Handles repeated submits. For 24 hours, the same Idempotency-Key with the same body gets the same
 * answer, byte for byte. The stored answer is encrypted, since it may contain a webhook's secret.
 * Errors are not stored, so that a client can correct a refused submit and use its key again. Once
 * the request is deleted, its key cannot submit anything any more.
 */

import { createHash } from 'node:crypto'
import { isoTime, type Clock } from '../../../shared/clock.ts'
import { DAY_MS } from '../../../shared/durations.ts'
import { ServiceError } from '../../../shared/errors.ts'
import { encrypt, decrypt, type Keys } from '../../secrets.ts'
import { findIdempotencyKey, NO_ANSWER, takeIdempotencyKey } from '../../store/idempotency-keys.ts'
import type { Store } from '../../store/database.ts'
import type { IdempotencyKeyRow } from '../../store/schema/tables.ts'

const PARAM = 'Idempotency-Key'
const KEY = /^[!-~]{1,255}$/

/** A key, and the body that it was sent with. */
export interface IdempotencyKey {
  accountId: string
  key: string
  /** SHA-256 of the body, regardless of whitespace and the order of its fields. */
  fingerprint: string
}

interface IdempotencyDeps {
  store: Store
  clock: Clock
  config: { encryptionKeys: Keys }
}

/**
 * Returns the key in the header of a submit, if there is one.
 * @throws ServiceError if it is not a valid key
 */
export function readIdempotencyKey(
  header: unknown,
  accountId: string,
  { body, metadataText }: { body: unknown; metadataText?: string | undefined },
): IdempotencyKey | undefined {
  if (header === undefined) return undefined
  if (typeof header !== 'string' || !KEY.test(header)) {
    throw new ServiceError('INVALID_PARAMETER', {
      message: `${PARAM} must be given once, with 1 to 255 visible ASCII characters.`,
      param: PARAM,
    })
  }
  return { accountId, key: header, fingerprint: fingerprintOf(body, metadataText ?? '') }
}

/** Matches a string in JSON, which is skipped, or a number. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/**
 * Returns the numbers in a JSON text that parsing does not preserve, such as integers above 2^53.
 */
const inexactNumbers = (json: string): string[] =>
  (json.match(STRING_OR_NUMBER) ?? []).filter(
    (token) => !token.startsWith('"') && String(Number(token)) !== token,
  )

/** @param metadataText still has the digits that the parsed body has lost */
function fingerprintOf(body: unknown, metadataText: string): string {
  const sorted = (_name: string, value: unknown) =>
    value === null || typeof value !== 'object' || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  try {
    return createHash('sha256')
      .update(JSON.stringify(body, sorted))
      .update(inexactNumbers(metadataText).join())
      .digest('hex')
  } catch (cause) {
    // JSON.parse accepts deeper nesting than JSON.stringify
    throw new ServiceError('INVALID_REQUEST', { message: 'The body is nested too deeply.', cause })
  }
}

/**
 * Returns the answer that was stored for the key, or undefined.
 * @throws ServiceError `IDEMPOTENCY_CONFLICT` if the key came with another body, or if the request
 *   that it submitted is deleted
 */
export async function findAnswer(
  { store, clock, config }: IdempotencyDeps,
  { accountId, key, fingerprint }: IdempotencyKey,
): Promise<string | undefined> {
  const row = await findIdempotencyKey(store, accountId, key, isoTime(clock.now()))
  if (!row) return undefined
  if (row.fingerprint !== fingerprint) {
    throw new ServiceError('IDEMPOTENCY_CONFLICT', { param: PARAM })
  }
  if (row.sealed_answer === NO_ANSWER) {
    const message =
      `This ${PARAM} has submitted ${row.request_id}, which is deleted; to submit it again, use ` +
      'a new key.'
    throw new ServiceError('IDEMPOTENCY_CONFLICT', { message, param: PARAM })
  }
  return decrypt(config.encryptionKeys, labelOf(row), row.sealed_answer)
}

/**
 * Stores `answer` under the key, in the transaction of the submit that it answers.
 * @throws ServiceError `IDEMPOTENCY_CONFLICT` when another submit took the key first
 */
export async function storeAnswer(
  store: Store,
  { clock, config }: IdempotencyDeps,
  entry: IdempotencyKey & { requestId: string; answer: string },
): Promise<void> {
  const now = clock.now()
  const names = { account_id: entry.accountId, idempotency_key: entry.key }
  const isOurs = await takeIdempotencyKey(
    store,
    {
      ...names,
      fingerprint: entry.fingerprint,
      request_id: entry.requestId,
      sealed_answer: encrypt(config.encryptionKeys, labelOf(names), entry.answer),
      expires_at: isoTime(now + DAY_MS),
    },
    isoTime(now),
  )
  if (!isOurs) throw new ServiceError('IDEMPOTENCY_CONFLICT', { param: PARAM })
}

const labelOf = ({
  account_id,
  idempotency_key,
}: Pick<IdempotencyKeyRow, 'account_id' | 'idempotency_key'>): string =>
  JSON.stringify(['idempotent answer', account_id, idempotency_key])
