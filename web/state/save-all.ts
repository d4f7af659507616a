/**
 * Writes everything that was separated to a local folder, file by file and piece by piece, so that
 * no file is ever whole in memory.
 */

import { signal } from '@preact/signals'
import { currentClient, messageOf } from './credential.ts'
import { filesOf } from './output-files.ts'
import { withRetries } from './retry.ts'
import { entries, outcomeOf, type Entry } from './file-queue.ts'

/** Only in Chromium-based browsers, over HTTPS and on localhost. */
interface Picker {
  showDirectoryPicker?(options: { mode: 'readwrite' }): Promise<FileSystemDirectoryHandle>
}

export const canSaveAll = 'showDirectoryPicker' in globalThis

/** The progress; null if nothing is being saved. */
export const saving = signal<{ done: number; all: number; abort: AbortController } | null>(null)
/** The result of saving. */
export const savedText = signal('')

// Closing the list, or signing out, ends what is written of it.
entries.subscribe((list) => {
  if (list.length > 0) return
  saving.peek()?.abort.abort()
  saving.value = null
  savedText.value = ''
})

/** Asks for a folder and writes into it, without overwriting any file. */
export async function saveAll(): Promise<void> {
  const folder = await (globalThis as Picker).showDirectoryPicker!({ mode: 'readwrite' }).catch(
    () => null, // no folder was chosen
  )
  if (!folder) return
  const separated = entries.value.filter(({ state }) => outcomeOf(state.value) === 'separated')
  const abort = new AbortController()
  const problems: string[] = []
  let files = 0
  savedText.value = ''
  for (const [done, entry] of separated.entries()) {
    if (abort.signal.aborted) break
    saving.value = { done, all: separated.length, abort }
    try {
      files += await saveEntry(entry, folder, abort.signal)
    } catch (error) {
      if (!abort.signal.aborted) problems.push(`${entry.path}: ${messageOf(error)}`)
    }
  }
  if (saving.value?.abort !== abort) return // the list was closed
  saving.value = null
  savedText.value = [`${files} files are saved.`, ...problems].join(' Not saved: ')
}

/** Returns how many files were written. */
async function saveEntry(
  { path, state }: Entry,
  root: FileSystemDirectoryHandle,
  signal: AbortSignal,
): Promise<number> {
  const current = state.value
  if (current.kind !== 'submitted') return 0
  const client = currentClient(signal)
  const { data } = await withRetries(() => client.result(current.id), { signal })
  const outputs = [...(data.targets ?? [data.target]), data.residual].flatMap(filesOf)
  let folder = root
  for (const name of path.split('/').slice(0, -1)) {
    folder = await folder.getDirectoryHandle(name, { create: true })
  }
  for (const { url, name } of outputs) {
    const { body } = await withRetries(() => client.open(url), { signal })
    await write(folder, await freeName(folder, name), body!)
  }
  return outputs.length
}

/** For example `song.piano (2).wav` if `song.piano.wav` exists. */
async function freeName(folder: FileSystemDirectoryHandle, preferred: string): Promise<string> {
  const names = new Set<string>()
  for await (const name of folder.keys()) names.add(name)
  const numbered = (i: number) =>
    preferred.replace(/(\.\w+)?$/, (extension) => ` (${i})${extension}`)
  let name = preferred
  for (let i = 2; names.has(name); i += 1) name = numbered(i)
  return name
}

/** Removes a file that could not be written completely. */
async function write(
  folder: FileSystemDirectoryHandle,
  name: string,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<void> {
  const file = await folder.getFileHandle(name, { create: true })
  try {
    await body.pipeTo(await file.createWritable())
  } catch (error) {
    await folder.removeEntry(name)
    throw error
  }
}
