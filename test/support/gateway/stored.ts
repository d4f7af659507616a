/** Lists the files that a gateway has stored. */

import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Gateway } from './start-gateway.ts'

/** Returns the paths of all files in the media folder. */
export async function onDisk({ folder }: Gateway): Promise<string[]> {
  const media = join(folder, 'media')
  const entries = await readdir(media, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(media, join(entry.parentPath, entry.name)))
    .sort()
}

/** Counts the media files on disk and the bytes that all accounts are charged for. */
export async function heldMedia(gateway: Gateway): Promise<{ files: number; bytes: number }> {
  const accounts = await gateway.rows('accounts')
  const bytes = accounts.reduce((sum, account) => sum + Number(account.media_held_bytes), 0)
  return { files: (await onDisk(gateway)).length, bytes }
}

export const NO_MEDIA = { files: 0, bytes: 0 }

/** Returns the tables that still hold rows of any request or file. */
export async function leftRows({ rows }: Gateway): Promise<string[]> {
  const tables = [
    'files',
    'requests',
    'request_logs',
    'outbox',
    'idempotency_keys',
    'deliveries',
    'delivery_attempts',
    'shares',
    'media_removals',
  ] as const
  const counts = await Promise.all(tables.map(async (table) => (await rows(table)).length))
  return tables.filter((_, i) => counts[i]! > 0)
}
