/**
 * Carries out what admins decide about accounts: cancels the requests of a disabled account, and
 * removes all requests and files of a deleted one. The tools themselves change only the account,
 * because they reach neither the broker nor the media.
 */

import { ServiceError } from '../../../shared/errors.ts'
import { removeFile } from '../../files/removal.ts'
import { Loop } from '../../loop.ts'
import { accountsToClose } from '../../store/accounts.ts'
import { listFiles } from '../../store/files.ts'
import { listOpen, listRequests } from '../../store/requests.ts'
import type { AccountRow } from '../../store/schema/tables.ts'
import { cancelIfUnfinished, remove, type RemoveDeps } from '../own-requests.ts'

const EVERY_MS = 10_000
/**
 * At most this many requests and files of each account per turn, so that a gateway can stop soon.
 */
const ROWS_MAX = 100

export function createAccountCloser(deps: RemoveDeps): Loop {
  const loop = new Loop({
    name: 'account-closer',
    everyMs: EVERY_MS,
    log: deps.log,
    turn: async () => {
      if ((await closeAccounts(deps)) > 0) loop.wake()
    },
  })
  return loop
}

/**
 * Takes one step for each account. It can be repeated, and interrupted at any point.
 * @returns how many requests and files it changed; 0 if nothing is left to do
 */
export async function closeAccounts(deps: RemoveDeps): Promise<number> {
  let sum = 0
  for (const account of await accountsToClose(deps.store)) {
    const { account_id: accountId } = account
    const canceled = await cancelRequests(deps, account)
    const removed = account.deleted_at === null ? 0 : await removeAll(deps, account)
    if (canceled + removed === 0) continue
    deps.log.info({ accountId, canceled, removed }, 'closed requests and files of an account')
    sum += canceled + removed
  }
  return sum
}

async function cancelRequests(deps: RemoveDeps, { account_id: accountId }: AccountRow) {
  let canceled = 0
  for (const row of await listOpen(deps.store, accountId, ROWS_MAX)) {
    if (await cancelIfUnfinished(deps, row, 'An admin has disabled the account.')) canceled++
  }
  return canceled
}

async function removeAll(deps: RemoveDeps, { account_id: accountId }: AccountRow): Promise<number> {
  let removed = 0
  for (const row of await listRequests(deps.store, accountId, { limit: ROWS_MAX })) {
    if (await isRemoved(remove(deps, row))) removed++
  }
  for (const row of await listFiles(deps.store, accountId, { limit: ROWS_MAX })) {
    if (await isRemoved(removeFile(deps, row))) removed++
  }
  return removed
}

/**
 * Returns false if another gateway was faster, or if an unfinished request still needs the media.
 */
async function isRemoved(removing: Promise<void>): Promise<boolean> {
  try {
    await removing
    return true
  } catch (error) {
    const code = error instanceof ServiceError ? error.code : undefined
    if (code === 'NOT_FOUND' || code === 'MEDIA_IN_USE') return false
    throw error
  }
}
