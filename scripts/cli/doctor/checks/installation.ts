/** Checks whether the database, the media and the broker belong to the same installation. */

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OWNER_KEY } from '../../../../gateway/media-store/media-store.ts'
import type { Context } from '../context.ts'
import { failure, okFinding, unusedFinding, type Finding } from '../finding.ts'
import { inPostgres, inSqlite } from '../read-database.ts'

const INSTALLATION = 'select installation_id as id from installation'
/** How SQLite and PostgreSQL report a database from before there were installation ids. */
const NO_TABLE = /no such table|relation "installation" does not exist/

/** Compares media on this machine; `checkBucket` compares a bucket. */
export async function checkInstallation(context: Context): Promise<Finding[]> {
  const { gateway } = context
  if (!gateway || gateway.s3Bucket !== undefined) return []
  const folder = join(gateway.dataFolder, 'media')
  const path = join(folder, OWNER_KEY)
  const owner = existsSync(path) ? (await readFile(path, 'utf8')).trim() : undefined
  return [await compareOwner(context, owner, `the media in ${folder}`)]
}

/** Compares the mark of a place with the database, if that can be read. */
export async function compareOwner(
  context: Context,
  owner: string | undefined,
  place: string,
): Promise<Finding> {
  try {
    return ownerFinding(await installationOf(context), owner, place)
  } catch {
    // The check of the database says why it cannot be read.
    return unusedFinding('installation', `${place}: not compared, the database cannot be read`)
  }
}

/**
 * @param id the database's; undefined if it has none yet
 * @param owner the installation that the place is marked with
 */
export function ownerFinding(
  id: string | undefined,
  owner: string | undefined,
  place: string,
): Finding {
  if (id === undefined && owner === undefined) {
    return unusedFinding('installation', `${place}: of none yet, the first start names it`)
  }
  if (id === owner) return okFinding('installation', `the database and ${place} are of ${id}`)
  const [own, its] = [id, owner].map((each) => each ?? 'no installation')
  const found = `the database is of ${own}, ${place} of ${its}`
  const remedy =
    'Correct DATABASE_URL, S3_BUCKET, DATA_DIR or NATS_URL: the gateway does not start with both.'
  return failure('installation', found, remedy)
}

/**
 * Undefined if the database has no id yet.
 * @throws if it cannot be read
 */
async function installationOf({ gateway, env }: Context): Promise<string | undefined> {
  try {
    if (env.DATABASE_URL) {
      return await inPostgres(env.DATABASE_URL, async (client) => {
        return (await client.query<{ id: string }>(INSTALLATION)).rows[0]?.id
      })
    }
    const path = join(gateway!.dataFolder, 'winnow.db')
    if (!existsSync(path)) return undefined
    return await inSqlite(path, (database) => {
      return (database.prepare(INSTALLATION).get() as { id: string } | undefined)?.id
    })
  } catch (error) {
    if (NO_TABLE.test((error as Error).message)) return undefined
    throw error
  }
}
