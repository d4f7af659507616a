/** Takes chosen or dropped files, or the audio and video in folders. */

import { contentTypeOf, isMedia } from '../../clients/typescript/content-type.ts'
import { FILE_BYTES_MAX } from '../../shared/file-limits.ts'
import { setSource, type ChosenFile } from './draft.ts'

/** How many files the page handles at once: as many as one call can list. */
export const FILES_MAX = 100
/** How many files of folders are examined, including those that are not media. */
const EXAMINED_MAX = 10_000

/** Types that the browser recognises reliably. */
const NO_MEDIA = /^(text|image|font)\/|^application\/(pdf|zip|json)$/

export function sizeText(bytes: number): string {
  if (bytes < 1e5) return `${Math.ceil(bytes / 1e3)} kB`
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}

export interface PickedFile {
  /** Including its folders. */
  path: string
  file: File
}

/**
 * Puts files into the form.
 * @throws Error saying why it takes none of them
 */
export function choose(picked: readonly PickedFile[]): void {
  const [only] = picked
  if (!only) throw new Error('There is no file in it.')
  if (picked.length === 1) assertUsable(only)
  // A single file that was chosen on purpose may be anything; the service looks into its bytes.
  const files = picked.length === 1 ? [chosen(only)] : picked.filter(seemsMedia).map(chosen)
  if (files.length === 0) throw new Error(`None of ${picked.length} files is audio or video.`)
  if (files.length > FILES_MAX) {
    throw new Error(
      `These are ${files.length} files of audio or video, and the page takes ${FILES_MAX} ` +
        'at once. Choose fewer, or use the command line, which takes any number.',
    )
  }
  files.sort((a, b) => a.path.localeCompare(b.path, undefined, { numeric: true }))
  const leftOut = picked.length - files.length
  setSource(files.length === 1 ? files[0]!.source : { kind: 'files', files, leftOut })
}

/**
 * Checks a single file; of several, the service refuses each on its own line.
 * @throws Error saying what is wrong
 */
function assertUsable({ path, file: { size, type } }: PickedFile): void {
  if (size === 0) throw new Error(`${path} is empty.`)
  if (size > FILE_BYTES_MAX) {
    throw new Error(`${path}: ${sizeText(size)}; the limit is ${sizeText(FILE_BYTES_MAX)}.`)
  }
  if (NO_MEDIA.test(type) && !isMedia(path)) {
    throw new Error(`${path} is no audio or video, but ${type}.`)
  }
}

/** Returns the files of a file input. */
export const filesListed = (files: FileList | null): PickedFile[] =>
  [...(files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }))

/**
 * Returns dropped files, including everything in folders. Must be called while the event is
 * handled, because the transfer is empty afterwards.
 * @throws Error if there are too many, or something cannot be read
 */
export async function filesDropped({ items }: DataTransfer): Promise<PickedFile[]> {
  const entries = [...items]
    .filter(({ kind }) => kind === 'file')
    // Files dragged from another program may not be on disk, and then have no entry.
    .map((item) => item.webkitGetAsEntry() ?? item.getAsFile())
  const picked: PickedFile[] = []
  for (const entry of entries) {
    if (!entry) continue
    for await (const file of filesIn(entry)) {
      picked.push(file)
      if (picked.length <= EXAMINED_MAX) continue
      throw new Error(`There are more than ${EXAMINED_MAX} files in it: drop a smaller folder.`)
    }
  }
  return picked
}

async function* filesIn(entry: FileSystemEntry | File): AsyncGenerator<PickedFile> {
  if (entry instanceof File) {
    yield { path: entry.name, file: entry }
  } else if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
    yield { path: entry.fullPath.slice(1), file }
  } else {
    const reader = (entry as FileSystemDirectoryEntry).createReader()
    const read = () =>
      new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    // Returns a few entries at a time, and none at the end.
    for (let batch = await read(); batch.length > 0; batch = await read()) {
      for (const inner of batch) yield* filesIn(inner)
    }
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile

/** According to the browser. */
const isMediaType = (type: string): boolean => /^(audio|video)\//.test(type)

/** According to the browser or the name, except hidden files such as macOS's `._song.mp3`. */
const seemsMedia = ({ file: { name, type } }: PickedFile): boolean =>
  !name.startsWith('.') && (isMediaType(type) || isMedia(name))

const chosen = ({ path, file }: PickedFile): ChosenFile => ({
  path,
  source: {
    kind: 'file',
    name: file.name,
    contentType: isMediaType(file.type) ? file.type : contentTypeOf(file.name),
    bytes: file,
  },
})
