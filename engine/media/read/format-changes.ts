/** Notes where the sample rate or the channels of a stream change, in words for the log. */

import type { Frame } from 'node-av/lib'

/** How many changes are listed individually. */
const LISTED_MAX = 8

export class FormatChanges {
  #format: string | null = null
  #changes = 0
  readonly #listed: string[] = []

  /** @param seconds how much sound precedes the frame */
  note({ sampleRate, channelLayout }: Frame, seconds: number): void {
    const channels = channelLayout.nbChannels
    const format = `${sampleRate} Hz, ${channels} channel${channels === 1 ? '' : 's'}`
    if (format === this.#format) return
    if (this.#format !== null && ++this.#changes <= LISTED_MAX) {
      this.#listed.push(
        `The sound of the source changes at ${seconds.toFixed(2)} s, from ${this.#format} to ` +
          `${format}: it is converted to what it began with.`,
      )
    }
    this.#format = format
  }

  get lines(): string[] {
    const more = this.#changes - this.#listed.length
    return more > 0 ? [...this.#listed, `It changes ${more} times more.`] : [...this.#listed]
  }
}
