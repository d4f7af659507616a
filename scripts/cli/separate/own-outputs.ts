/** Recognises files made by a separation, by the mark in them. */

import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { OUTPUT_MARK } from '../../../shared/output-mark.ts'

/** Tags precede the sound: in WAV, FLAC and MP3 they are within this many bytes. */
const HEAD_BYTES = 65_536

/** A video has no mark of its own, but the sound next to it does. */
const SOUNDS = ['.wav', '.flac', '.mp3'] as const

/** Whether `path` is a separated sound, or the video that belongs to one. */
export function isOwnOutput(path: string): boolean {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false
  if (!path.endsWith('.mp4')) return headOf(path).includes(OUTPUT_MARK)
  const sounds = SOUNDS.map((extension) => path.replace(/\.mp4$/, extension))
  return sounds.some((sound) => existsSync(sound) && headOf(sound).includes(OUTPUT_MARK))
}

function headOf(path: string): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  const file = openSync(path, 'r')
  try {
    return head.subarray(0, readSync(file, head))
  } finally {
    closeSync(file)
  }
}
