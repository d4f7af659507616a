/**
 * The sound of all outputs of a job: encoded to files as it comes, with one gain, and with its
 * peaks. Runs in a thread of `output-threads.ts`.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OutputName } from '../../../shared/messages.ts'
import type { EncoderOptions } from '../../media/write/encode.ts'
import { allSettledOrThrow } from '../all-settled-or-throw.ts'
import { factorOf, gainDbFor, peakOf } from './output-gain.ts'
import { OutputWriter, type LocalFile } from './output-writer.ts'
import type { LivePart } from './live-parts.ts'
import { Peaks } from './peaks.ts'
import { Preview } from './preview.ts'
import { Mix, type SeparatedSounds } from './mix.ts'
import { residualOf } from './residual.ts'
import type { MixedTargets } from './target-mixer.ts'

export interface SoundsOptions {
  /** The outputs to write: the targets in order, then the residual. */
  names: readonly OutputName[]
  folder: string
  encoding: EncoderOptions
  /** Whether each output also gets the sound track of a video. */
  hasTracks: boolean
  /** Whether a preview is written with the peaks, and a live preview before it. */
  hasPreview: boolean
  isLive?: boolean
}

/** Format of the files, since not every format can hold what the mixture has. */
export interface FileFormat {
  sampleRate: number
  channels: number
  /** Why sounds and tracks have different channel names; null if they do not. */
  layoutChange: string | null
  trackLayoutChange: string | null
}

export interface SoundFiles {
  /** In decibels, the same for every file. */
  gainDb: number
  sounds: ReadonlyMap<OutputName, LocalFile>
  peaks: LocalFile
  preview: LocalFile | null
  /** Why a requested preview is missing; null otherwise. */
  previewProblem: string | null
  /** Why a live preview ended early; null otherwise. */
  liveProblem: string | null
}

export class OutputSounds {
  readonly #folder: string
  readonly #stop = new AbortController()
  readonly #writers = new Map<OutputName, OutputWriter>()
  readonly #peaks: Peaks
  #preview: Preview | null = null
  readonly #mix = new Mix()
  /** The index of each prompt's target. */
  #recipeOf: readonly number[] = []
  /** The largest absolute sample of all outputs; full scale is 1. */
  #peak = 0
  /** The latest call of `write` or `finish`. */
  #latest: Promise<unknown> = Promise.resolve()

  private constructor({ names, folder, encoding }: SoundsOptions) {
    this.#folder = folder
    this.#peaks = new Peaks(names, encoding)
  }

  static async open(options: SoundsOptions): Promise<OutputSounds> {
    const opened = new OutputSounds(options)
    const { names, folder, encoding, hasTracks: hasTrack, hasPreview, isLive = false } = options
    const { signal } = opened.#stop
    try {
      if (hasPreview) {
        const sound = { ...encoding, isLive }
        opened.#preview = await Preview.open(join(folder, 'preview'), names, sound)
      }
      for (const name of names) {
        const writing = { name, folder, encoding, hasTrack, signal }
        opened.#writers.set(name, await OutputWriter.open(writing))
      }
      return opened
    } catch (error) {
      await opened.abort()
      throw error
    }
  }

  /** The same for all outputs. */
  get format(): FileFormat {
    const { sound, track } = this.#writers.get('target')!
    const { sampleRate, channels, layoutChange } = sound
    return { sampleRate, channels, layoutChange, trackLayoutChange: track?.layoutChange ?? null }
  }

  /**
   * Adds samples to all files. The residual is the mixture minus all targets, sample by sample, so
   * that all outputs add up to the mixture; a target that several prompts share is subtracted once.
   * Once a sample exceeds full scale, all files wait until the gain is known.
   * @returns the parts of the live preview that are complete
   */
  write(separated: SeparatedSounds): Promise<LivePart[]> {
    this.#recipeOf = separated.plan.recipeOf
    const writing = this.#write(this.#mix.add(separated))
    this.#latest = writing
    return writing
  }

  async #write({ mixture, targets }: MixedTargets): Promise<LivePart[]> {
    if (mixture[0]!.length === 0) return []
    this.#collect('mixture', mixture) // before its memory is reused for the residual
    const residual = residualOf(mixture, targets)
    const parts = [...this.#recipeOf.map((recipe) => targets[recipe]!), residual]
    this.#peak = Math.max(this.#peak, ...parts.map(peakOf))
    const writers = [...this.#writers]
    if (this.#peak > 1) await allSettledOrThrow(writers.map(([, writer]) => writer.postpone()))
    const writing = writers.map(([, writer], i) => writer.write(parts[i]!))
    // Runs while other threads write. If it throws, the writing is still awaited.
    const collecting = writers.map(async ([name], i) => this.#collect(name, parts[i]!))
    const encoding = this.#preview?.encode()
    await allSettledOrThrow<unknown>([...writing, ...collecting, encoding])
    return (await encoding) ?? []
  }

  #collect(name: OutputName | 'mixture', planes: readonly Float32Array[]): void {
    this.#peaks.add(name, planes)
    this.#preview?.add(name, planes)
  }

  /**
   * Completes the files with one gain.
   * @throws Error if the disk is full, or after `abort`
   */
  finish(): Promise<SoundFiles> {
    return (this.#latest = this.#finish())
  }

  async #finish(): Promise<SoundFiles> {
    const last = this.#mix.finish()
    if (last) await this.#write(last)
    const gainDb = gainDbFor(this.#peak)
    const gain = factorOf(gainDb)
    const writers = [...this.#writers]
    const preview = await this.#preview?.finish()
    const [peaks, ...sounds] = await allSettledOrThrow<LocalFile>([
      this.#writePeaks(this.#peaks.toJson(gain, preview?.index)),
      ...writers.map(([, writer]) => writer.finish(gain)),
    ])
    return {
      gainDb,
      sounds: new Map(writers.map(([name], i) => [name, sounds[i]!])),
      peaks: peaks!,
      preview: preview?.file ?? null,
      previewProblem: this.#preview?.problem ?? null,
      liveProblem: this.#preview?.liveProblem ?? null,
    }
  }

  /** Aborts once the current call has ended. The caller removes the folder's contents. */
  async abort(): Promise<void> {
    this.#stop.abort()
    await this.#latest.catch(() => undefined)
    const writers = [...this.#writers.values()].map((writer) => writer.abort())
    await Promise.allSettled([...writers, this.#preview?.close()])
  }

  async #writePeaks(text: string): Promise<LocalFile> {
    const path = join(this.#folder, 'peaks')
    const json = Buffer.from(text)
    await writeFile(path, json)
    return { path, contentType: 'application/json', extension: 'json', bytes: json.length }
  }
}
