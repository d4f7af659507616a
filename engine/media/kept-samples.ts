/** Keeps blocks of samples to be read again in order: the first in memory, the others in a file. */

import { open, rm, type FileHandle } from 'node:fs/promises'

/** Most bytes in memory: ten seconds of stereo. */
const HELD_BYTES_MAX = 4 * 2 ** 20

export class KeptSamples {
  readonly #path: string
  #held: (readonly Float32Array[])[] = []
  #heldBytes = 0
  /** Null: all blocks are in memory. */
  #file: FileHandle | null = null
  /** Samples of each block in the file, in order: blocks are chunks, so the list is short. */
  readonly #lengths: number[] = []

  /** @param path of the file, which is made when it is needed */
  constructor(path: string) {
    this.#path = path
  }

  /**
   * Adds [channels][samples], of any length, and takes over their memory; one call at a time.
   * @throws Error when the disk is full
   */
  async add(block: readonly Float32Array[]): Promise<void> {
    const bytes = block.reduce((sum, { byteLength }) => sum + byteLength, 0)
    if (!this.#file && this.#heldBytes + bytes <= HELD_BYTES_MAX) {
      this.#held.push(block)
      this.#heldBytes += bytes
      return
    }
    this.#file ??= await open(this.#path, 'w+')
    for (const { buffer, byteOffset, byteLength } of block) {
      await this.#file.writeFile(new Uint8Array(buffer, byteOffset, byteLength))
    }
    this.#lengths.push(block[0]?.length ?? 0)
  }

  /** All blocks, as they were added; of those in the file memory holds one at a time. */
  async *blocks(channels: number): AsyncGenerator<readonly Float32Array[]> {
    yield* this.#held
    let position = 0
    for (const length of this.#lengths) {
      const block = Array.from({ length: channels }, () => new Float32Array(length))
      for (const plane of block) {
        const { bytesRead } = await this.#file!.read(plane, { position })
        if (bytesRead < plane.byteLength) throw new Error(`${this.#path} is too short`)
        position += bytesRead
      }
      yield block
    }
  }

  /** Removes all. May be called again. */
  async remove(): Promise<void> {
    this.#held = []
    if (!this.#file) return
    await this.#file.close()
    this.#file = null
    await rm(this.#path, { force: true })
  }
}
