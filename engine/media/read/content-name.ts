/** Names what an unreadable file is, by its first bytes. */

/** First bytes of the most common containers. */
const MEDIA_MARK =
  /^(RIFF|RF64|FORM|FRM8|NIST|caff|fLaC|OggS|ID3|....(ftyp|moov|mdat)|\x1a\x45\xdf\xa3|FLV|#!AMR)/s

const MARKS: readonly (readonly [RegExp, string])[] = [
  [/^%PDF/, 'a PDF document'],
  [/^\x89PNG|^\xff\xd8\xff|^GIF8|^RIFF....WEBP|^BM|^....ftyp(avif|heic|mif1)/s, 'an image'],
  [/^PK[\x03\x05]/, 'a ZIP archive or office document'],
  [/^\x1f\x8b|^7z\xbc\xaf|^Rar!/, 'an archive'],
  [/^#EXTM3U|^ffconcat|^v=0\r?\n|^\[playlist\]/i, 'a playlist: send the media itself'],
  [/^RIFX/, 'a big-endian WAV (RIFX), which cannot be read: send it as a WAV'],
  [MEDIA_MARK, 'damaged or cut off'],
  [/^\s*(<!doctype html|<html)/i, 'a web page: send the media itself'],
  [/^[\t\n\r\x20-\x7e\x80-\xff]+$/, 'text'],
]

/** Guesses what an unreadable file is, as the end of a sentence. */
export function contentName(head: Buffer): string {
  const text = head.toString('latin1')
  return MARKS.find(([mark]) => mark.test(text))?.[1] ?? 'no audio or video that can be decoded'
}
