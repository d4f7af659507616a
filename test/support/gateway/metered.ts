/** Makes metered accounts for tests of credits. */

import assert from 'node:assert/strict'
import { createAccount, creditAccount, showAccount } from '../../../gateway/accounts/accounts.ts'
import type { Store } from '../../../gateway/store/database.ts'
import type { LedgerRow } from '../../../gateway/store/schema/tables.ts'
import { withKey, type Gateway } from './start-gateway.ts'

/**
 * Makes a metered account with a balance of `seconds`, and returns the gateway with the account's
 * key.
 */
export async function meteredAccount(gateway: Gateway, seconds: number) {
  const { account_id: accountId } = await createAccount(gateway.deps, {
    name: 'Metered',
    metered: true,
  })
  if (seconds > 0) await creditAccount(gateway.deps, accountId, { seconds })
  const own = withKey(gateway, await gateway.newKey(undefined, accountId), accountId)
  const balance = async () => {
    const { balance_seconds, reserved_seconds } = await showAccount(gateway.deps, accountId)
    return [balance_seconds, reserved_seconds]
  }
  return { accountId, own, balance }
}

/** Asserts the invariants of an account, and returns its ledger. */
export async function assertSound(store: Store, accountId: string): Promise<LedgerRow[]> {
  const account = await store
    .selectFrom('accounts')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  const ledger = await store
    .selectFrom('ledger')
    .selectAll()
    .where('account_id', '=', accountId)
    .execute()
  const requests = await store
    .selectFrom('requests')
    .selectAll()
    .where('account_id', '=', accountId)
    .execute()
  const sum = (column: 'balance_change' | 'reserved_change', of = ledger) =>
    of.reduce((total, entry) => total + entry[column], 0)
  assert.ok(account.balance_seconds >= 0, `the balance is ${account.balance_seconds}`)
  assert.ok(account.reserved_seconds >= 0, `${account.reserved_seconds} s are reserved`)
  const available = account.balance_seconds - account.reserved_seconds
  assert.ok(available >= 0, `${available} s are available`)
  assert.equal(sum('balance_change'), account.balance_seconds)
  assert.equal(sum('reserved_change'), account.reserved_seconds)
  for (const request of requests) {
    const own = ledger.filter(({ reference }) => reference === request.request_id)
    const deductions = own.filter(({ kind }) => kind === 'deduct')
    const cost = request.status === 'COMPLETED' ? Math.ceil(request.duration ?? NaN) : 0
    assert.equal(cost + sum('balance_change', own), 0, `${request.status} costs ${cost}`)
    assert.equal(deductions.length, request.status === 'COMPLETED' ? 1 : 0)
    const isOver = ['COMPLETED', 'FAILED'].includes(request.status)
    if (isOver) assert.equal(sum('reserved_change', own), 0, 'nothing is reserved for what is over')
  }
  return ledger
}
