/** Whether the database and the place of the media are of one installation. */

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OWNER_KEY } from '../../../gateway/media-store/media-store.ts'
import type { Context } from '../context.ts'
import { failure, fine, unused, type Finding } from '../finding.ts'
import { inPostgres, inSqlite } from '../read-database.ts'

const INSTALLATION = 'select installation_id as id from installation'

/** Of media on this machine; `checkBucket` compares a bucket. */
export async function checkInstallation(context: Context): Promise<Finding[]> {
  const { gateway } = context
  if (!gateway || gateway.s3Bucket !== undefined) return []
  const folder = join(gateway.dataFolder, 'media')
  const path = join(folder, OWNER_KEY)
  const owner = existsSync(path) ? (await readFile(path, 'utf8')).trim() : undefined
  return [ownerFinding(await installationOf(context), owner, folder)]
}

/**
 * @param id of the database; undefined: it names none yet
 * @param owner what the place of the media is marked with
 */
export function ownerFinding(
  id: string | undefined,
  owner: string | undefined,
  place: string,
): Finding {
  if (id === undefined && owner === undefined) {
    return unused('installation', 'none yet, the first start names it')
  }
  if (id === owner) return fine('installation', `database and media are of ${id}`)
  const found =
    `the database is of ${id ?? 'no installation'}, ` +
    `the media in ${place} of ${owner ?? 'no installation'}`
  const remedy =
    'Correct DATABASE_URL, S3_BUCKET or DATA_DIR: the gateway does not start with both.'
  return failure('installation', found, remedy)
}

/** Undefined where the database has none, or cannot be read: then its own check says why. */
export async function installationOf({ gateway, env }: Context): Promise<string | undefined> {
  try {
    if (env.DATABASE_URL) {
      return await inPostgres(env.DATABASE_URL, async (client) => {
        return (await client.query<{ id: string }>(INSTALLATION)).rows[0]?.id
      })
    }
    return await inSqlite(join(gateway!.dataFolder, 'winnow.db'), (database) => {
      return (database.prepare(INSTALLATION).get() as { id: string } | undefined)?.id
    })
  } catch {
    return undefined
  }
}
