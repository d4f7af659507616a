/** Suggests what to do about a failed request; the form still has its contents. */

const OTHER_FILE = 'Choose another file, or convert this one to WAV, FLAC, MP3 or MP4.'
const ANOTHER_ATTEMPT = 'Go back to the form and separate it again.'

const ADVICE: Readonly<Record<string, string>> = {
  INVALID_MEDIA: OTHER_FILE,
  NO_AUDIO_STREAM: 'Choose a file that has sound.',
  INVALID_AUDIO_URL: 'Enter a public address that begins with https, or choose the file itself.',
  MEDIA_FETCH_FAILED: 'Check that the address gives the file itself, or choose the file.',
  PAYLOAD_TOO_LARGE: 'Choose a smaller file, or cut it.',
  MEDIA_TOO_LONG: 'Cut the media, and separate the pieces.',
  CHUNK_TOO_LARGE: 'Set a shorter longest section in the expert options.',
  INSUFFICIENT_CREDITS: 'Ask whoever runs this service for credits.',
  MEDIA_QUOTA_EXCEEDED: 'Delete earlier requests, and separate it again.',
  MODEL_FAILED: ANOTHER_ATTEMPT,
  ENGINE_LOST: ANOTHER_ATTEMPT,
}

export const adviceOn = (code: string | undefined): string => ADVICE[code ?? ''] ?? ANOTHER_ATTEMPT
