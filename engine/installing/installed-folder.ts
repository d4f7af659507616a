/** Layout of the folder of installed models, and what is removed there. */
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  isModelName,
  readRecord,
  RECORD_FILE,
  type SourceFile,
} from '../../models/installed/record.ts'
import { LockedError, withLock } from '../../shared/process/file-lock.ts'
import { keepFirstSeen } from './first-seen.ts'

/** Holds downloads until they are installed; the name of a model never starts like this. */
const DOWNLOADS = '.downloads'

/** The folder with the downloads of a model, or of all models. */
export const downloadsOf = (modelsFolder: string, name = ''): string =>
  join(modelsFolder, DOWNLOADS, name)

/** The file that is locked while the model is fetched. */
export const lockOf = (modelsFolder: string, name: string): string =>
  downloadsOf(modelsFolder, `${name}.lock`)

/** Removes what was downloaded of a model, unless another process is about to install it. */
export async function removeDownloads(modelsFolder: string, name: string): Promise<void> {
  const downloads = downloadsOf(modelsFolder, name)
  if (!existsSync(downloads)) return
  try {
    await withLock(lockOf(modelsFolder, name), () => rm(downloads, { recursive: true }))
  } catch (error) {
    if (!(error instanceof LockedError)) throw error
  }
}

/** @throws Error if there is no such model */
export async function removeModel(modelsFolder: string, name: string): Promise<void> {
  const folder = join(modelsFolder, name)
  if (!isModelName(name) || !existsSync(join(folder, RECORD_FILE))) {
    throw new Error(`${name} is not installed in ${modelsFolder}`)
  }
  await keepFirstSeen(modelsFolder, name, sourcesOf(folder)) // earlier versions did not
  const gone = await mkdtemp(join(modelsFolder, '.removed-'))
  await rename(folder, join(gone, name)) // gone at once, even if the next step is interrupted
  await rm(gone, { recursive: true })
}

function sourcesOf(folder: string): readonly SourceFile[] {
  try {
    return readRecord(folder).sources
  } catch {
    return [] // a model that this version can't read can still be removed
  }
}
