/** Looks into files before they are sent, as far as this browser can read them. */

import { computed, signal } from '@preact/signals'
import { decodeShort, statedSeconds } from '../audio/decode.ts'
import { peakOf, SILENCE_DB, toDb } from '../audio/levels.ts'
import { source } from './draft.ts'
import { mediaSecondsMax } from './separators.ts'
import { timeText } from './time-text.ts'

/** Larger or longer files are not decoded before they are sent. */
const LOOKED_AT_BYTES_MAX = 20_000_000
const LOOKED_AT_SECONDS_MAX = 600
/** In hertz; enough to detect any sound. */
const RATE = 8_000

const seconds = signal(0)
const isSilent = signal(false)

/** Why separating the chosen file is probably in vain; empty if nothing is known against it. */
export const doubt = computed(
  () =>
    tooLongText(seconds.value) ||
    (isSilent.value ? 'This file is silent: there is nothing to separate.' : ''),
)

source.subscribe((chosen) => {
  seconds.value = 0
  isSilent.value = false
  if (chosen?.kind !== 'file') return
  const { bytes } = chosen
  const keep = <T>(target: { value: T }, looked: Promise<T>) =>
    looked.then(
      (value) => source.peek() === chosen && (target.value = value),
      () => undefined, // FFmpeg can read this format, but this browser cannot
    )
  void keep(seconds, statedSeconds(bytes))
  if (bytes.size <= LOOKED_AT_BYTES_MAX) void keep(isSilent, hasNoSound(bytes))
})

/** Says that a file is too long, if its header can be read and says so; otherwise empty. */
export const doubtLength = (bytes: Blob): Promise<string> =>
  statedSeconds(bytes).then(tooLongText, () => '')

/** @param lasts in seconds; infinite if the header does not say */
const tooLongText = (lasts: number): string =>
  Number.isFinite(lasts) && lasts > mediaSecondsMax.value
    ? `This file lasts ${timeText(lasts)}, and the service takes at most ` +
      `${timeText(mediaSecondsMax.value)}.`
    : ''

async function hasNoSound(bytes: Blob): Promise<boolean> {
  const buffer = await decodeShort(bytes, RATE, LOOKED_AT_SECONDS_MAX)
  return buffer !== null && toDb(peakOf(buffer)) < SILENCE_DB
}
