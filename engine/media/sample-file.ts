/** Keeps blocks of samples in a file, without coding, to be read again in order. */

import { open, rm, type FileHandle } from 'node:fs/promises'

export class SampleFile {
  readonly #path: string
  readonly #file: FileHandle
  /** Samples of each block, in order: blocks are chunks, so the list is short. */
  readonly #lengths: number[] = []

  private constructor(path: string, file: FileHandle) {
    this.#path = path
    this.#file = file
  }

  /** Makes an empty file at `path`. */
  static async create(path: string): Promise<SampleFile> {
    return new SampleFile(path, await open(path, 'w+'))
  }

  /**
   * Adds [channels][samples], of any length; one call at a time.
   * @throws Error when the disk is full
   */
  async add(block: readonly Float32Array[]): Promise<void> {
    for (const { buffer, byteOffset, byteLength } of block) {
      await this.#file.writeFile(new Uint8Array(buffer, byteOffset, byteLength))
    }
    this.#lengths.push(block[0]?.length ?? 0)
  }

  /** All blocks, as they were added; memory holds one at a time. */
  async *blocks(channels: number): AsyncGenerator<Float32Array[]> {
    let position = 0
    for (const length of this.#lengths) {
      const block = Array.from({ length: channels }, () => new Float32Array(length))
      for (const plane of block) {
        const { bytesRead } = await this.#file.read(plane, { position })
        if (bytesRead < plane.byteLength) throw new Error(`${this.#path} is too short`)
        position += bytesRead
      }
      yield block
    }
  }

  /** Removes the file. May be called again. */
  async remove(): Promise<void> {
    await this.#file.close()
    await rm(this.#path, { force: true })
  }
}
