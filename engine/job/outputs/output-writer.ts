/** Writes one output: its sound and, if the source has a picture, the sound track of its video. */

import { join } from 'node:path'
import type { OutputName } from '../../../shared/messages.ts'
import {
  createEncoder,
  type EncodedFile,
  type Encoder,
  type EncoderOptions,
} from '../../media/write/encode.ts'
import { KeptSamples } from '../../media/kept-samples.ts'
import { allSettledOrThrow } from '../all-settled-or-throw.ts'

export type LocalFile = EncodedFile & { path: string }

export interface OutputWriterOptions {
  name: OutputName
  folder: string
  encoding: EncoderOptions
  /** Whether there is also the sound track of a video. */
  hasTrack: boolean
  signal: AbortSignal
}

/**
 * Encodes samples as they come, and also keeps them: if a later sample would clip, the files are
 * encoded again with the gain that is known at the end.
 */
export class OutputWriter {
  readonly #options: OutputWriterOptions
  readonly #kept: KeptSamples
  #sound: Encoder | null = null
  #track: Encoder | null = null
  #isPostponed = false

  private constructor(options: OutputWriterOptions) {
    this.#options = options
    this.#kept = new KeptSamples(`${this.#soundPath}_samples`)
  }

  static async open(options: OutputWriterOptions): Promise<OutputWriter> {
    const writer = new OutputWriter(options)
    try {
      await writer.#openFiles()
      return writer
    } catch (error) {
      await writer.abort()
      throw error
    }
  }

  get sound(): Pick<Encoder, 'sampleRate' | 'channels' | 'layoutChange'> {
    return this.#sound!
  }

  get track(): Pick<Encoder, 'layoutChange'> | null {
    return this.#track
  }

  get #soundPath(): string {
    return join(this.#options.folder, this.#options.name)
  }

  async write(block: readonly Float32Array[]): Promise<void> {
    await allSettledOrThrow([
      this.#kept.add(block),
      ...(this.#isPostponed ? [] : this.#encode(block)),
    ])
  }

  /** Removes what was encoded; from now on samples are only kept. */
  async postpone(): Promise<void> {
    if (this.#isPostponed) return
    this.#isPostponed = true
    await Promise.all([this.#sound!.abort(), this.#track?.abort()])
  }

  /**
   * Completes the files; if encoding was postponed, encodes the kept samples first.
   * @param gain a factor for every sample
   * @returns the sound's file
   * @throws the signal's reason once aborted; Error if the disk is full
   */
  async finish(gain: number): Promise<LocalFile> {
    await this.#encodePostponed(gain)
    const [file] = await allSettledOrThrow([this.#sound!.finish(), this.#track?.finish()])
    return { ...file!, path: this.#soundPath }
  }

  async #encodePostponed(gain: number): Promise<void> {
    if (this.#isPostponed) {
      await this.#openFiles()
      for await (const block of this.#kept.blocks(this.#options.encoding.channels)) {
        this.#options.signal.throwIfAborted()
        for (const plane of block) multiply(plane, gain)
        await allSettledOrThrow(this.#encode(block))
      }
    }
    await this.#kept.remove()
  }

  /** Removes incomplete files. */
  async abort(): Promise<void> {
    await Promise.allSettled([this.#sound?.abort(), this.#track?.abort(), this.#kept.remove()])
  }

  async #openFiles(): Promise<void> {
    const { name, folder, encoding, hasTrack } = this.#options
    this.#sound = await createEncoder(this.#soundPath, encoding)
    if (hasTrack) {
      this.#track = await createEncoder(trackPath(folder, name), { ...encoding, format: 'aac' })
    }
  }

  #encode(block: readonly Float32Array[]): (Promise<void> | undefined)[] {
    return [this.#sound!.write(block), this.#track?.write(block)]
  }
}

/** Path of the sound track for the video of an output. */
export const trackPath = (folder: string, name: OutputName): string => join(folder, `${name}_track`)

function multiply(plane: Float32Array, gain: number): void {
  for (let i = 0; i < plane.length; i += 1) plane[i]! *= gain
}
