/** Bindings for libsystemd, which only processes started by systemd load. */

import { StartError } from './lifecycle.ts'

export interface Libsystemd {
  /**
   * Sends `NAME=value` lines to the service manager.
   * @returns -errno (below 0) on failure
   */
  notify(lines: string): number
  /**
   * Writes one journal entry with `NAME=value` fields.
   * @returns -errno (below 0) on failure
   */
  sendToJournal(fields: readonly string[]): number
}

const NAME = 'libsystemd.so.0'

/**
 * @param wantedBy the environment variable that requires it
 * @throws StartError if libsystemd is missing
 */
export async function loadLibsystemd(wantedBy: string): Promise<Libsystemd> {
  try {
    const { default: koffi } = await import('koffi')
    const library = koffi.load(NAME)
    const iovec = koffi.struct({ iov_base: 'void *', iov_len: 'size_t' })
    const notify = library.func('sd_notify', 'int', ['int', 'str'])
    const sendv = library.func('sd_journal_sendv', 'int', [koffi.pointer(iovec), 'int'])
    return {
      notify: (lines) => notify(0, lines) as number,
      sendToJournal(fields) {
        const vector = fields.map((field) => {
          const bytes = Buffer.from(field)
          return { iov_base: bytes, iov_len: bytes.length }
        })
        return sendv(vector, vector.length) as number
      },
    }
  } catch (cause) {
    throw new StartError(
      `${wantedBy} is set, as by systemd, but ${NAME} can't be used ` +
        `(${(cause as Error).message}). ` +
        `Install it (apt-get install libsystemd0), or unset ${wantedBy}.`,
      { cause },
    )
  }
}
