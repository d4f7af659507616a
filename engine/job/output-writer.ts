/** Writes one output: its sound, and the sound track of its video where the source has one. */

import { join } from 'node:path'
import type { OutputName } from '../../shared/messages.ts'
import { beginSpan, type OpenSpan } from '../../shared/telemetry/tracing.ts'
import {
  createEncoder,
  type EncodedFile,
  type Encoder,
  type EncoderOptions,
} from '../media/write/encode.ts'
import { SampleFile } from '../media/sample-file.ts'
import { allSettledOrThrow } from './all-settled-or-throw.ts'

export interface OutputWriterOptions {
  name: OutputName
  /** Folder of the files. */
  folder: string
  encoding: EncoderOptions
  hasTrack: boolean
  signal: AbortSignal
}

/**
 * Encodes samples as they come, and keeps them too: should a later one clip, the files are written
 * again at the gain that is known at the end.
 */
export class OutputWriter {
  readonly #options: OutputWriterOptions
  #encoding: OpenSpan | null = null
  #kept: SampleFile | null = null
  #sound: Encoder | null = null
  #track: Encoder | null = null
  #isPostponed = false

  private constructor(options: OutputWriterOptions) {
    this.#options = options
  }

  static async open(options: OutputWriterOptions): Promise<OutputWriter> {
    const writer = new OutputWriter(options)
    try {
      await writer.#openFiles()
      writer.#kept = await SampleFile.create(`${writer.#soundPath}_samples`)
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

  get trackPath(): string {
    return join(this.#options.folder, `${this.#options.name}_track`)
  }

  get #soundPath(): string {
    return join(this.#options.folder, this.#options.name)
  }

  /** Adds planar samples. */
  async write(block: readonly Float32Array[]): Promise<void> {
    await allSettledOrThrow([
      this.#kept!.add(block),
      ...(this.#isPostponed ? [] : this.#encode(block)),
    ])
  }

  /** Removes what was encoded: from here on samples are only kept. */
  async postpone(): Promise<void> {
    if (this.#isPostponed) return
    this.#isPostponed = true
    await Promise.all([this.#sound!.abort(), this.#track?.abort()])
  }

  /**
   * Encodes all that was kept, where that was postponed.
   * @param gain a factor for every sample
   * @throws the signal's reason once aborted; Error when the disk is full
   */
  async encodePostponed(gain: number): Promise<void> {
    const kept = this.#kept!
    if (this.#isPostponed) {
      await this.#openFiles()
      for await (const block of kept.blocks(this.#options.encoding.channels)) {
        this.#options.signal.throwIfAborted()
        for (const plane of block) multiply(plane, gain)
        await allSettledOrThrow(this.#encode(block))
      }
    }
    await kept.remove()
  }

  /** Completes the sound's file. */
  async finishSound(): Promise<EncodedFile & { path: string }> {
    const file = await this.#sound!.finish()
    this.#encoding?.end()
    return { ...file, path: this.#soundPath }
  }

  /** Completes the sound track, if there is one. */
  async finishTrack(): Promise<void> {
    await this.#track?.finish()
  }

  /** Removes what is not complete. */
  async abort(): Promise<void> {
    this.#encoding?.end({ code: 'INTERRUPTED' })
    await Promise.allSettled([this.#sound?.abort(), this.#track?.abort(), this.#kept?.remove()])
  }

  async #openFiles(): Promise<void> {
    const { name, encoding, hasTrack } = this.#options
    this.#encoding ??= beginSpan(`encode ${name}`)
    this.#sound = await createEncoder(this.#soundPath, encoding)
    if (hasTrack) this.#track = await createEncoder(this.trackPath, { ...encoding, format: 'aac' })
  }

  #encode(block: readonly Float32Array[]): (Promise<void> | undefined)[] {
    return [this.#sound!.write(block), this.#track?.write(block)]
  }
}

function multiply(plane: Float32Array, gain: number): void {
  for (let i = 0; i < plane.length; i += 1) plane[i]! *= gain
}
