/** Checks the invariants of the media ledger (docs/decisions/accounts.md). */

import assert from 'node:assert/strict'
import type { Store } from '../../../gateway/store/database.ts'

/** Asserts that every account's byte sums and file count match its rows. */
export async function assertMediaSums(store: Store): Promise<void> {
  const [accounts, files, requests] = await Promise.all([
    store.selectFrom('accounts').selectAll().execute(),
    store.selectFrom('files').selectAll().execute(),
    store.selectFrom('requests').selectAll().execute(),
  ])
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
  for (const account of accounts) {
    const own = <Row extends { account_id: string }>(rows: Row[]) =>
      rows.filter(({ account_id }) => account_id === account.account_id)
    const storedFiles = own(files).filter((file) => file.media_removed_at === null)
    const outputs = own(requests).filter(
      ({ status, media_removed_at }) => status === 'COMPLETED' && media_removed_at === null,
    )
    const open = own(requests).filter(({ status }) => !['COMPLETED', 'FAILED'].includes(status))
    assert.equal(
      account.media_held_bytes,
      sum(storedFiles.map((file) => file.file_size)) + sum(outputs.map((row) => row.media_bytes)),
    )
    assert.equal(account.media_held_files, storedFiles.length)
    assert.equal(account.media_reserved_bytes, sum(open.map((row) => row.media_bytes)))
  }
}
