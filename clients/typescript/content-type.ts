/** Guesses content types from file names. */

const EXTENSIONS: Readonly<Record<string, string>> = {
  aac: 'audio/aac',
  ac3: 'audio/ac3',
  aif: 'audio/aiff',
  aiff: 'audio/aiff',
  amr: 'audio/amr',
  caf: 'audio/x-caf',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  mka: 'audio/x-matroska',
  mp3: 'audio/mpeg',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  wav: 'audio/wav',
  wma: 'audio/x-ms-wma',
  wv: 'audio/x-wavpack',
  '3gp': 'video/3gpp',
  avi: 'video/x-msvideo',
  flv: 'video/x-flv',
  m4v: 'video/mp4',
  mkv: 'video/x-matroska',
  mov: 'video/quicktime',
  mp4: 'video/mp4',
  mpeg: 'video/mpeg',
  mpg: 'video/mpeg',
  ogv: 'video/ogg',
  ts: 'video/mp2t',
  webm: 'video/webm',
  wmv: 'video/x-ms-wmv',
}

/** Returns the content type that a file's name suggests. The service examines the bytes anyway. */
export const contentTypeOf = (path: string): string =>
  EXTENSIONS[extensionOf(path)] ?? 'audio/unknown'

const extensionOf = (path: string): string =>
  /[^/\\]\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''

/** Returns whether a name suggests audio or video. */
export const isMedia = (path: string): boolean => contentTypeOf(path) !== 'audio/unknown'
