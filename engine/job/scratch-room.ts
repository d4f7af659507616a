/**
 * Watches whether the scratch disk is full. While it is, no job is leased, because none could be
 * served.
 */

import { freeBytes } from '../../shared/free-bytes.ts'
import type { Logger } from '../../shared/telemetry/log.ts'

interface ScratchRoomOptions {
  scratchFolder: string
  /** With less free space the disk counts as full. */
  scratchFreeBytesMin: number
  log: Logger
  /** Returns the free bytes on the disk of a folder. */
  free?: (folder: string) => Promise<number>
}

const LOOK_MS = 2_000

export class ScratchRoom {
  readonly #options: ScratchRoomOptions
  #current: Promise<void> | null = null
  #end: () => void = () => undefined

  constructor(options: ScratchRoomOptions) {
    this.#options = options
  }

  /** Resolves when there is space again; null while there is. */
  get current(): Promise<void> | null {
    return this.#current
  }

  /** Checks now, and then every two seconds as long as the process lives. */
  async watch(): Promise<void> {
    await this.isFull()
    setInterval(() => void this.isFull(), LOOK_MS).unref()
  }

  /** Checks now. A folder that cannot be checked counts as full. */
  async isFull(): Promise<boolean> {
    const { scratchFolder: folder, scratchFreeBytesMin: freeBytesMin, log } = this.#options
    const { free = freeBytes } = this.#options
    const bytes = await free(folder).catch(() => 0)
    const isFull = bytes < freeBytesMin
    if (isFull && !this.#current) {
      this.#current = new Promise((resolve) => {
        this.#end = resolve
      })
      const fullDisk = { folder, freeBytes: bytes, freeBytesMin }
      log.warn(fullDisk, 'the disk of SCRATCH_DIR is full: leasing no job until it has free space')
    } else if (!isFull && this.#current) {
      this.#current = null
      this.#end()
      log.info({ folder, freeBytes: bytes }, 'the disk of SCRATCH_DIR has free space again')
    }
    return isFull
  }
}
