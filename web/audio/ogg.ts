/** Ogg Opus, the format of the segments of a preview. */

/** Whether this browser decodes the segments of a preview. */
export const decodesPreviews = (): boolean =>
  new Audio().canPlayType('audio/ogg; codecs=opus') !== ''

const HEAD_BYTES = 27
const CAPTURE = [...'OggS'].map((letter) => letter.charCodeAt(0))

/** Whether the bytes are Ogg pages, whole and without anything between or after them. */
export function isOgg(bytes: ArrayBuffer): boolean {
  const all = new Uint8Array(bytes)
  let at = 0
  while (at + HEAD_BYTES <= all.length) {
    if (CAPTURE.some((byte, i) => all[at + i] !== byte)) return false
    const laces = all.subarray(at + HEAD_BYTES, at + HEAD_BYTES + all[at + HEAD_BYTES - 1]!)
    at += HEAD_BYTES + laces.length + laces.reduce((sum, length) => sum + length, 0)
  }
  return at === all.length && at > 0
}
