/** Warns about files that are silent or too long, as far as this browser can read them. */

import { computed, signal } from '@preact/signals'
import { decodeShort, headerSeconds } from '../audio/decode.ts'
import { peakOf, SILENCE_DB, toDb } from '../audio/levels.ts'
import { source } from './draft.ts'
import { mediaSecondsMax } from './separators.ts'
import { timeText } from '../../shared/time-text.ts'

/** Larger or longer files are not decoded before they are sent. */
const DECODED_BYTES_MAX = 20_000_000
const DECODED_SECONDS_MAX = 600
/** In hertz; enough to detect any sound. */
const RATE = 8_000

const seconds = signal(0)
const isSilent = signal(false)

/** Why it is probably pointless to separate the chosen file; empty if nothing is wrong with it. */
export const sourceWarning = computed(
  () =>
    tooLongText(seconds.value) ||
    (isSilent.value ? 'This file is silent: there is nothing to separate.' : ''),
)

source.subscribe((chosen) => {
  seconds.value = 0
  isSilent.value = false
  if (chosen?.kind !== 'file') return
  const { bytes } = chosen
  const keep = <T>(target: { value: T }, reading: Promise<T>) =>
    reading.then(
      (value) => source.peek() === chosen && (target.value = value),
      () => undefined, // the service may still be able to read what this browser can't
    )
  void keep(seconds, headerSeconds(bytes))
  if (bytes.size <= DECODED_BYTES_MAX) void keep(isSilent, hasNoSound(bytes))
})

/** Says that a file is too long, according to its header; otherwise empty. */
export const lengthWarning = (bytes: Blob): Promise<string> =>
  headerSeconds(bytes).then(tooLongText, () => '')

/** @param duration in seconds; infinite if the header does not say */
const tooLongText = (duration: number): string =>
  Number.isFinite(duration) && duration > mediaSecondsMax.value
    ? `This file lasts ${timeText(duration)}, and the service takes at most ` +
      `${timeText(mediaSecondsMax.value)}.`
    : ''

async function hasNoSound(bytes: Blob): Promise<boolean> {
  const buffer = await decodeShort(bytes, RATE, DECODED_SECONDS_MAX)
  return buffer !== null && toDb(peakOf(buffer)) < SILENCE_DB
}
