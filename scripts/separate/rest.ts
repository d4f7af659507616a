/** What none of several targets took: a residual minus the other targets, sample by sample. */

import { open, type FileHandle } from 'node:fs/promises'

/** Of samples, in one piece. */
const PIECE_BYTES = 3 * 2 ** 18
const SAMPLE_BYTES = 3
const HEADER_BYTES_MAX = 4_096

interface Samples {
  file: FileHandle
  /** Where they begin. */
  start: number
  bytes: number
}

/**
 * Subtracts targets from a residual in place; all are WAV files of 24 bits that came from one
 * source. Sums beyond full scale are clipped.
 * @throws Error when they do not fit together
 */
export async function subtractTargets(residual: string, targets: readonly string[]): Promise<void> {
  const files = [await open(residual, 'r+')]
  try {
    for (const target of targets) files.push(await open(target, 'r'))
    const [rest, ...others] = await Promise.all(files.map(findSamples))
    for (let offset = 0; offset < rest!.bytes; offset += PIECE_BYTES) {
      const piece = await read(rest!, offset)
      for (const other of others) subtract(piece, await read(other, offset))
      await rest!.file.write(piece, 0, piece.length, rest!.start + offset)
    }
  } finally {
    for (const file of files) await file.close()
  }
}

async function read({ file, start, bytes }: Samples, offset: number): Promise<Buffer> {
  const length = Math.max(0, Math.min(PIECE_BYTES, bytes - offset))
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start + offset)
  if (bytesRead < length) throw new Error('a file of samples ends early')
  return buffer
}

function subtract(from: Buffer, what: Buffer): void {
  if (what.length !== from.length) throw new Error('the targets differ in length')
  for (let i = 0; i + SAMPLE_BYTES <= from.length; i += SAMPLE_BYTES) {
    const difference = from.readIntLE(i, SAMPLE_BYTES) - what.readIntLE(i, SAMPLE_BYTES)
    const clipped = Math.max(-0x80_0000, Math.min(0x7f_ffff, difference))
    from.writeIntLE(clipped, i, SAMPLE_BYTES)
  }
}

/** The place of the samples in a WAV file of the service. @throws Error when it is none */
async function findSamples(file: FileHandle): Promise<Samples> {
  const { size } = await file.stat()
  const head = Buffer.alloc(Math.min(HEADER_BYTES_MAX, size))
  await file.read(head, 0, head.length, 0)
  const isWav =
    head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WAVE'
  for (let at = 12; isWav && at + 8 <= head.length;) {
    const start = at + 8
    const bytes = head.readUInt32LE(at + 4)
    const name = head.toString('latin1', at, at + 4)
    if (name === 'fmt ' && head.readUInt16LE(start + 14) !== 8 * SAMPLE_BYTES) break
    if (name === 'data') return { file, start, bytes: Math.min(bytes, size - start) }
    at = start + bytes + (bytes % 2)
  }
  throw new Error('an output is no WAV file of 24 bits')
}
