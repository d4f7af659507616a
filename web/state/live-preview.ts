/** Plays the separated beginning of a request in progress, as it grows. */

import { signal } from '@preact/signals'
import type { Peaks, PreviewIndex } from '../../clients/typescript/client.ts'
import { ApiError } from '../../clients/typescript/errors.ts'
import { lengthen } from '../audio/lengthen.ts'
import { createLane, type LaneSound } from '../audio/lane.ts'
import { Mixer } from '../audio/mixer.ts'
import { stateOf, type MixerState } from '../audio/mixer-state.ts'
import { isOgg } from '../audio/ogg.ts'
import { planesOfWaveform } from '../audio/peaks.ts'
import { segmentReader, streamedSounds, type SegmentReader } from '../audio/sounds.ts'
import { preferredOutputOf } from './chosen-task.ts'
import { currentClient } from './credential.ts'
import { readRange } from './read-range.ts'
import type { OpenRequest } from './open-request.ts'

/** Most heads are shorter than this. */
const HEAD_BYTES = 65_536

interface Part {
  url: string
  /** Index of its first segment, and how many it has of each sound. */
  first: number
  count: number
  read: SegmentReader
}

/** What precedes the segments of a part; `shared/live-preview.ts` has the format. */
interface Head {
  peaks: Peaks & { preview: PreviewIndex }
  /** Where the segments start. */
  offset: number
}

export class LivePreview {
  /** Null until something can be played. */
  readonly mixer = signal<Mixer | null>(null)
  /** How much can be played, in seconds. */
  readonly seconds = signal(0)
  readonly #request: OpenRequest
  #attempt = ''
  #parts: Part[] = []
  #waiting: (() => void)[] = []
  #latest: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(request: OpenRequest) {
    this.#request = request
  }

  /** Reads new parts. Errors are ignored, because the request goes on without a preview. */
  update(): void {
    this.#latest = this.#latest.then(() => this.#update()).catch(() => undefined)
  }

  /** Ends playback, and returns its state; null if there was nothing to play. */
  close(): MixerState | null {
    this.#isClosed = true
    const mixer = this.mixer.peek()
    const state = mixer && stateOf(mixer)
    mixer?.close()
    return state
  }

  async #update(): Promise<void> {
    if (this.#isClosed) return
    const live = await currentClient()
      .livePreview(this.#request.id)
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'NOT_FOUND') return null // it has ended
        throw error
      })
    if (live?.attempt !== this.#attempt) this.#parts = []
    this.#attempt = live?.attempt ?? ''
    if (!live) return // the result will have the missing segments
    for (const [i, part] of this.#parts.entries()) part.url = live.part_urls[i] ?? part.url
    for (const url of live.part_urls.slice(this.#parts.length)) {
      const head = await headOf(url)
      if (this.#isClosed) return
      this.#add(url, head)
      this.#show(head, live.duration)
    }
  }

  #add(url: string, head: Head): void {
    const last = this.#parts.at(-1)
    const first = last ? last.first + last.count : 0
    const { bytes, levels, segment_samples: samples, sample_rate: rate } = head.peaks.preview
    const part: Part = { url, first, count: bytes.length / levels.length, read: () => [] }
    part.read = readerOf(part, head)
    this.#parts.push(part)
    this.seconds.value = ((first + part.count) * samples) / rate
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Draws it, at the length of the whole media. */
  #show({ peaks }: Head, duration: number): void {
    const waveforms = [peaks.mixture, ...peaks.targets, peaks.residual]
    const sounds = waveforms.map((waveform, i): LaneSound => ({
      drawn: planesOfWaveform(lengthen(waveform, duration)),
      ...peaks.preview.levels[i]!,
    }))
    const mixer = this.mixer.peek()
    if (mixer) for (const [i, lane] of mixer.lanes.entries()) lane.sound.value = sounds[i]!
    else this.mixer.value = this.#open(sounds, peaks.preview, duration)
  }

  #open(sounds: readonly LaneSound[], index: PreviewIndex, duration: number): Mixer {
    const { prompts, status } = this.#request
    const named = [
      { kind: 'mixture' as const, label: 'Mixture' },
      ...prompts.map((label) => ({ kind: 'target' as const, label })),
      { kind: 'residual' as const, label: 'The rest' },
    ]
    const lanes = named.map((name, i) => createLane({ ...name, output: null }, sounds[i]!))
    lanes.find(({ kind }) => kind === preferredOutputOf(status.peek() ?? {}))!.isSolo.value = true
    const streamed = streamedSounds({
      index: { ...index, samples: Math.round(duration * index.sample_rate) },
      gain: 1,
      read: (k) => this.#read(k),
    })
    return new Mixer(lanes, { ...streamed, ready: this.seconds }, null)
  }

  /**
   * Returns the segments `k`, once they are there.
   * @param isRefreshed whether the addresses were just read again
   */
  async #read(k: number, isRefreshed = false): Promise<readonly ArrayBuffer[]> {
    const part = this.#parts.find(({ first, count }) => k >= first && k < first + count)
    if (!part) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
      return this.#read(k)
    }
    try {
      return await readOf(part, k - part.first)
    } catch (error) {
      if (isRefreshed || !(error instanceof ApiError)) throw error
    }
    // The address has expired, or the request has ended: then there are no parts any more.
    this.update()
    await this.#latest
    return this.#read(k, true)
  }
}

/**
 * Returns the segments `k` of a part. If a later attempt has replaced it in the meantime, they are
 * elsewhere in it.
 */
async function readOf(part: Part, k: number): Promise<readonly ArrayBuffer[]> {
  const segments = await part.read(k)
  if (segments.every(isOgg)) return segments
  part.read = readerOf(part, await headOf(part.url))
  return part.read(k)
}

const readerOf = (part: Part, { peaks, offset }: Head): SegmentReader =>
  segmentReader(peaks.preview, (from, to) => readRange(part.url, offset + from, offset + to))

async function headOf(url: string): Promise<Head> {
  let bytes = await readRange(url, 0, HEAD_BYTES - 1)
  const offset = 4 + new DataView(bytes).getUint32(0, true)
  if (offset > bytes.byteLength) bytes = await readRange(url, 0, offset - 1)
  const text = new TextDecoder().decode(bytes.slice(4, offset))
  return { peaks: JSON.parse(text) as Head['peaks'], offset }
}
