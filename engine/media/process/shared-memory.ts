/**
 * Memory shared with a child process. Samples go through it as they are, whereas messages would
 * copy, encode and send them. It has no name, and disappears with the last process that uses it.
 */

import { closeSync, readvSync } from 'node:fs'
import koffi from 'koffi'

/** Fits the largest block: 65,536 samples of 64 channels. Unused parts take no memory. */
const BYTES = 2 ** 24

const [CLOSE_ON_EXEC, ALLOW_SEALING] = [1, 2]
const F_ADD_SEALS = 1_033
/** Seals the size, and the seals, so that a child cannot enlarge the memory or interrupt a read. */
const SEALS = 0b111

const libc = koffi.load('libc.so.6')
const createMemory = libc.func('int memfd_create(str name, uint flags)')
const truncate = libc.func('int ftruncate(int descriptor, long bytes)')
const fcntl = libc.func('int fcntl(int descriptor, int command, int value)')

export class SharedMemory {
  readonly descriptor: number
  #isClosed = false

  /** @throws Error if the system does not support it */
  constructor() {
    this.descriptor = createMemory('winnow', CLOSE_ON_EXEC | ALLOW_SEALING)
    const isSized = this.descriptor >= 0 && truncate(this.descriptor, BYTES) === 0
    if (!isSized || fcntl(this.descriptor, F_ADD_SEALS, SEALS) !== 0) {
      throw new Error('the system provides no memory to share with another process')
    }
  }

  /**
   * Returns the child's latest block: `planes` planes of `samples` samples. The child states the
   * size, so nothing is allocated before it is known to fit.
   * @throws Error if the memory was closed, or is too small for that
   */
  read(planes: number, samples: number): Float32Array[] {
    if (this.#isClosed) throw new Error('the shared memory was closed')
    const bytes = planes * samples * Float32Array.BYTES_PER_ELEMENT
    if (!(bytes > 0 && bytes <= BYTES)) {
      throw new Error(`a block of ${bytes} bytes does not fit the shared memory`)
    }
    const block = Array.from({ length: planes }, () => new Float32Array(samples))
    readvSync(this.descriptor, block, 0)
    return block
  }

  close(): void {
    if (!this.#isClosed) closeSync(this.descriptor)
    this.#isClosed = true
  }
}
