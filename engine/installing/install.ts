/** Installs models into a folder, and removes them. */
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import {
  isInstalled,
  isModelName,
  readRecord,
  RECORD_FILE,
  type ModelRecord,
  type SourceFile,
} from '../../models/installed/record.ts'
import { freeBytes } from '../../shared/free-bytes.ts'
import { withLock } from '../../shared/process/file-lock.ts'
import { makeFolder } from '../../shared/process/make-folder.ts'
import { TAGGER } from '../../shared/request-kind.ts'
import { CATALOGUE, type CatalogueEntry } from './catalogue.ts'
import { convert, writeRecord } from './convert.ts'
import { downloadsOf, lockOf } from './installed-folder.ts'
import { digest, download, type DownloadOptions } from './download.ts'
import { assertAsFirstSeen, keepFirstSeen } from './first-seen.ts'

export interface FetchOptions {
  /** Called with the name of each file when its download begins. */
  onFile?(name: string): void
  /** Called once everything is downloaded. */
  onConvert?(): void
  /**
   * Called with the name of another process that is already fetching the model, such as `process 17
   * on host-a`. This one then waits for it.
   */
  onWait?(other: string): void
  onProgress: DownloadOptions['onProgress']
  retryDelaysMs?: readonly number[]
}

/** The folder next to the downloaded files in which they are converted. */
const CONVERTED = '.converted'

/**
 * Downloads the files of a model and installs it. Until it is installed the downloads are kept, so
 * that the next call resumes an interrupted one. If several processes fetch the same model, one
 * downloads it and the others wait for the result.
 * @throws Error like `download` and `convert`, or if the model is already installed
 */
export async function fetchModel(
  modelsFolder: string,
  entry: CatalogueEntry,
  options: FetchOptions,
): Promise<ModelRecord> {
  await claim(modelsFolder, entry.name)
  await checkFreeSpace(modelsFolder, entry)
  await makeFolder(downloadsOf(modelsFolder))
  const work = async () => {
    const folder = join(modelsFolder, entry.name)
    return isInstalled(folder) ? readRecord(folder) : fetchLocked(modelsFolder, entry, options)
  }
  const onWait = (other: string) => options.onWait?.(other)
  return withLock(lockOf(modelsFolder, entry.name), work, { waitMsMax: Infinity, onWait })
}

async function fetchLocked(
  modelsFolder: string,
  entry: CatalogueEntry,
  options: FetchOptions,
): Promise<ModelRecord> {
  const downloads = downloadsOf(modelsFolder, entry.name)
  const sources: (SourceFile & { path: string })[] = []
  for (const file of entry.files) {
    options.onFile?.(file.name)
    const { path, sha256, bytes, verified } = await download(
      file,
      join(downloads, file.name),
      options,
    )
    sources.push({ path, file: file.name, url: file.url, sha256, bytes, verified })
  }
  await assertAsFirstSeen(modelsFolder, entry.name, sources)
  options.onConvert?.()
  const fresh = join(downloads, CONVERTED)
  await rm(fresh, { recursive: true, force: true }) // left by a process that was killed
  await mkdir(fresh)
  const record = await install(modelsFolder, fresh, entry.name, sources, entry)
  await rm(downloads, { recursive: true })
  return record
}

/** Requires twice the size, because the download and its conversion exist together for a while. */
async function checkFreeSpace(modelsFolder: string, { name, megabytes }: CatalogueEntry) {
  const needed = 2 * megabytes
  const free = Math.floor((await freeBytes(modelsFolder)) / 1e6)
  if (free >= needed) return
  throw new Error(
    `${modelsFolder}: ${name} needs ${needed} MB of free disk space; ${free} are free`,
  )
}

/**
 * Installs a model from files that were downloaded by hand.
 * @param name if absent, the catalogue's model with the first file
 * @throws Error like `convert`, or if a name is needed, or if the model is already installed
 */
export async function importModel(
  modelsFolder: string,
  paths: readonly string[],
  { name, stems }: { name?: string; stems?: readonly string[] },
): Promise<ModelRecord> {
  const catalogued = CATALOGUE.find(({ files }) => files[0]!.name === basename(paths[0]!))
  const named = name ?? catalogued?.name
  if (named === undefined) {
    throw new Error(`${basename(paths[0]!)} is not known here: give it a name with --name.`)
  }
  await claim(modelsFolder, named)
  const sources: (SourceFile & { path: string })[] = []
  for (const path of paths) sources.push(await sourceOf(path, catalogued))
  const entry = { ...catalogued, ...(stems && { stemOfFile: stems }) }
  const fresh = await mkdtemp(join(modelsFolder, '.new-'))
  return install(modelsFolder, fresh, named, sources, entry)
}

/** @throws Error if a published checksum differs */
async function sourceOf(path: string, catalogued: CatalogueEntry | undefined) {
  const file = basename(path)
  const { sha256, bytes } = await digest(path)
  const published = catalogued?.files.find(({ name }) => name === file)?.sha256
  if (published !== undefined && sha256 !== published) {
    throw new Error(`${path}: its SHA-256 is ${sha256}, not ${published}`)
  }
  return { path, file, sha256, bytes, verified: published !== undefined }
}

/**
 * Converts into the empty folder `fresh`, which is renamed to the model's name once it is complete.
 */
async function install(
  modelsFolder: string,
  fresh: string,
  name: string,
  sources: readonly (SourceFile & { path: string })[],
  { licence, stemOfFile }: Partial<CatalogueEntry>,
): Promise<ModelRecord> {
  await chmod(fresh, 0o755) // engines may run as a different user
  try {
    const paths = sources.map(({ path }) => path)
    const converted = await convert(paths, fresh, stemOfFile)
    const record: ModelRecord = {
      format: 1,
      name,
      installedAt: new Date().toISOString(),
      licence: licence?.weights ?? 'Not stated: see where the files come from.',
      sources: sources.map(({ path: _, ...source }) => source),
      ...converted,
    }
    await writeRecord(fresh, RECORD_FILE, record)
    await keepFirstSeen(modelsFolder, name, record.sources)
    await rename(fresh, join(modelsFolder, name))
    return record
  } catch (error) {
    await rm(fresh, { recursive: true, force: true })
    throw error
  }
}

/** @throws Error if the name is invalid or taken */
async function claim(modelsFolder: string, name: string): Promise<void> {
  if (!isModelName(name)) {
    throw new Error(
      `"${name}" can't be the name of a model: up to 40 of a-z, 0-9, "-", "_" and ".", ` +
        'a letter or digit first',
    )
  }
  if (name === TAGGER)
    throw new Error(
      `${name} is reserved for the model that lists sounds; give the model another name`,
    )
  await makeFolder(modelsFolder)
  if (existsSync(join(modelsFolder, name))) {
    throw new Error(`${name} is installed in ${modelsFolder}; remove it first to install it again`)
  }
}
