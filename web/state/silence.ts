/** Checks whether a chosen file contains any sound. */

import { signal } from '@preact/signals'
import { decodeShort } from '../audio/decode.ts'
import { peakOf, SILENCE_DB, toDb } from '../audio/levels.ts'
import { source } from './draft.ts'

/** Larger or longer files are not decoded before they are sent. */
const LOOKED_AT_BYTES_MAX = 20_000_000
const LOOKED_AT_SECONDS_MAX = 600
/** In hertz; enough to detect any sound. */
const RATE = 8_000

/** Whether the source is silent; false if unknown. */
export const silent = signal(false)

source.subscribe((chosen) => {
  silent.value = false
  const bytes = chosen?.kind === 'file' ? chosen.bytes : null
  if (!bytes || bytes.size > LOOKED_AT_BYTES_MAX) return
  void isSilent(bytes).then((isIt) => {
    if (source.peek() === chosen) silent.value = isIt
  })
})

async function isSilent(bytes: Blob): Promise<boolean> {
  try {
    const buffer = await decodeShort(bytes, RATE, LOOKED_AT_SECONDS_MAX)
    return buffer !== null && toDb(peakOf(buffer)) < SILENCE_DB
  } catch {
    return false // FFmpeg can read this format, but this browser cannot
  }
}
