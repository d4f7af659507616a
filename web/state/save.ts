/** Saves files made by the page to this computer, one at a time. */

import { signal } from '@preact/signals'
import { downloadZip } from 'client-zip'
import type { ConvertOptions, SoundFormat } from '../audio/convert.ts'
import { currentClient, messageOf } from './credential.ts'
import { withExtension, type StoredFile } from './output-files.ts'

/** The address of web/audio/convert.ts, set by the build. */
declare const CONVERT: string
type Converter = typeof import('../audio/convert.ts')

/** By then a browser has read a saved file. */
const SAVING_MS_MAX = 60_000

/** The file that is being made, and its progress from 0 to 1; null if unknown. */
export const making = signal<{ name: string; part: number | null; abort: AbortController } | null>(
  null,
)
export const saveProblem = signal('')

/** @param make returns the bytes; null if they are already saved */
export async function save(
  name: string,
  make: (abort: AbortController) => Promise<Blob | null>,
): Promise<void> {
  const abort = new AbortController()
  making.value = { name, part: null, abort }
  saveProblem.value = ''
  try {
    const blob = await make(abort)
    if (blob && !abort.signal.aborted) download(blob, name)
  } catch (error) {
    if (!abort.signal.aborted) saveProblem.value = `${name}: ${messageOf(error)}`
  } finally {
    making.value = null
  }
}

function download(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob)
  Object.assign(document.createElement('a'), { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), SAVING_MS_MAX)
}

/**
 * Makes a file in a format.
 * @param open returns the address of the sound, or the sound itself
 */
export const saveAs = (
  name: string,
  format: SoundFormat,
  open: () => string | Promise<AudioBuffer>,
): Promise<void> =>
  saveMade(withExtension(name, format), async ({ convert }, options) =>
    convert(await open(), format, options),
  )

/** Makes a copy of one of the service's videos with another sound. */
export const saveVideo = (
  name: string,
  video: string,
  render: () => Promise<AudioBuffer>,
): Promise<void> =>
  saveMade(name, async ({ withSound }, options) => withSound(video, await render(), options))

const saveMade = (
  name: string,
  make: (converter: Converter, options: ConvertOptions) => Promise<Blob>,
): Promise<void> =>
  save(name, async (abort) => {
    const onProgress = (part: number) => (making.value = { name, part, abort })
    const converter = (await import(CONVERT)) as Converter
    return make(converter, { signal: abort.signal, onProgress })
  })

interface FilePicker {
  showSaveFilePicker?(options: { suggestedName: string }): Promise<FileSystemFileHandle>
}

/**
 * Saves all files as one ZIP, without compression.
 * @param isLarge whether to write straight to disk, if the browser lets pages do that
 */
export const saveZip = (
  files: readonly StoredFile[],
  name: string,
  isLarge: boolean,
): Promise<void> =>
  save(name, async ({ signal }) => {
    const { showSaveFilePicker: pick } = globalThis as FilePicker
    const handle = isLarge && pick ? await pick({ suggestedName: name }).catch(() => null) : null
    if (isLarge && pick && !handle) return null // no place was chosen
    const { body } = downloadZip(opened(files, signal))
    if (!handle)
      return new Response(body, { headers: { 'content-type': 'application/zip' } }).blob()
    await body!.pipeTo(await handle.createWritable(), { signal })
    return null
  })

/** Fetches each file once the previous one has been written. */
async function* opened(files: readonly StoredFile[], signal: AbortSignal) {
  const client = currentClient(signal)
  for (const { url, name } of files) yield { name, input: await client.open(url) }
}
