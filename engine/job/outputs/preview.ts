/**
 * The preview of a job's sounds for players: one compressed file with the mixture, the targets and
 * the residual. It consists of segments of 5 s: the first segment of each sound, then the second of
 * each, and so on. Each segment is an Ogg stream of its own, which can be fetched by its range and
 * decoded alone.
 */

import { open, type FileHandle } from 'node:fs/promises'
import type { OutputName } from '../../../shared/messages.ts'
import {
  PREVIEW_SEGMENT_SAMPLES,
  PreviewLane,
  type PreviewSound,
} from '../../media/write/preview-lane.ts'
import { OPUS_RATE } from '../../media/write/ogg-opus.ts'
import { allSettledOrThrow } from '../all-settled-or-throw.ts'
import { LevelMeter } from '../../../shared/level-meter.ts'
import { LiveParts, LIVE_PEAKS_MAX, type LivePart } from './live-parts.ts'
import type { LocalFile } from './output-writer.ts'
import { Peaks } from './peaks.ts'
import type { PreviewIndex } from './preview-index.ts'

type SoundName = OutputName | 'mixture'

/** A failure here ends only the preview, never the outputs of the job. */
export class Preview {
  readonly #path: string
  readonly #sound: PreviewSound
  #lanes = new Map<SoundName, PreviewLane>()
  readonly #meters = new Map<SoundName, LevelMeter>()
  #file: FileHandle | null = null
  #samples = 0
  /** Segments of each sound that wait for those of the others. */
  #waiting: Buffer[][] = []
  readonly #bytes: number[] = []
  /** What its live preview is made from; null if it has none. */
  #live: { parts: LiveParts; peaks: Peaks } | null = null
  /** Why there is no preview; null as long as there is one. */
  problem: string | null = null
  /** Why the live preview ended before the preview; null otherwise. */
  liveProblem: string | null = null

  private constructor(path: string, sound: PreviewSound) {
    this.#path = path
    this.#sound = sound
  }

  /** @param isLive whether `encode` also makes the parts of a live preview */
  static async open(
    path: string,
    names: readonly OutputName[],
    { isLive = false, ...sound }: PreviewSound & { isLive?: boolean },
  ): Promise<Preview> {
    const preview = new Preview(path, sound)
    if (isLive) {
      preview.#live = { parts: new LiveParts(), peaks: new Peaks(names, sound, LIVE_PEAKS_MAX) }
    }
    await preview.#attempt(async () => {
      preview.#file = await open(path, 'w')
      for (const name of ['mixture' as const, ...names]) {
        preview.#lanes.set(name, await PreviewLane.open(sound))
        preview.#meters.set(name, new LevelMeter(sound.sampleRate))
        preview.#waiting.push([])
      }
    })
    return preview
  }

  /** Takes over planar samples without keeping them. */
  add(name: SoundName, planes: readonly Float32Array[]): void {
    if (this.problem !== null) return
    if (name === 'mixture') this.#samples += planes[0]!.length
    try {
      this.#lanes.get(name)?.add(planes)
      this.#meters.get(name)?.add(planes)
      this.#live?.peaks.add(name, planes)
    } catch (error) {
      this.#fail(error)
    }
  }

  /**
   * Encodes what was added; only one call at a time.
   * @returns the parts of the live preview that are complete
   */
  async encode(): Promise<LivePart[]> {
    let parts: LivePart[] = []
    await this.#attempt(async () => {
      await this.#write((lane) => lane.encode())
      parts = await this.#cut()
    })
    return parts
  }

  /** A failure here ends the live preview, not the preview. */
  async #cut(): Promise<LivePart[]> {
    if (!this.#live) return []
    const { parts, peaks } = this.#live
    const levels = () => [...this.#meters.values()].map(({ level }) => level)
    const lanes = this.#lanes.size
    try {
      return await parts.cut({ path: this.#path, bytes: this.#bytes, lanes, peaks, levels })
    } catch (error) {
      this.#live = null
      this.liveProblem = messageOf(error)
      return []
    }
  }

  /** Completes the file; null if there is none, for the reason in `problem`. */
  async finish(): Promise<{ file: LocalFile; index: PreviewIndex } | null> {
    const { sampleRate, channels } = this.#sound
    const samples = Math.round((this.#samples * OPUS_RATE) / sampleRate)
    await this.#attempt(() => this.#write((lane) => lane.finish(samples)))
    await this.close()
    if (this.problem !== null) return null
    const bytes = this.#bytes.reduce((sum, size) => sum + size, 0)
    return {
      file: { path: this.#path, contentType: 'audio/ogg', extension: 'ogg', bytes },
      index: {
        sample_rate: OPUS_RATE,
        samples,
        segment_samples: PREVIEW_SEGMENT_SAMPLES,
        bytes: this.#bytes,
        levels: [...this.#meters.values()].map((meter) => meter.finish(channels)),
      },
    }
  }

  /** Frees everything, once nothing is being encoded any more. */
  async close(): Promise<void> {
    for (const lane of this.#lanes.values()) lane.close()
    this.#lanes.clear()
    await this.#file?.close()
    this.#file = null
  }

  async #write(encode: (lane: PreviewLane) => Promise<Buffer[]>): Promise<void> {
    const lanes = [...this.#lanes.values()]
    const made = await allSettledOrThrow(lanes.map(encode))
    for (const [lane, segments] of made.entries()) this.#waiting[lane]!.push(...segments)
    while (this.#waiting.length > 0 && this.#waiting.every(({ length }) => length > 0)) {
      const segments = this.#waiting.map((waiting) => waiting.shift()!)
      this.#bytes.push(...segments.map(({ length }) => length))
      await this.#file!.writev(segments)
    }
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    if (this.problem !== null) return
    await work().catch((error: unknown) => this.#fail(error))
  }

  #fail(error: unknown): void {
    this.problem ??= messageOf(error)
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
