/** Handles big-endian WAV: FFmpeg reads its header, but takes its samples for little-endian. */

import {
  AV_CODEC_ID_PCM_ALAW,
  AV_CODEC_ID_PCM_F32BE,
  AV_CODEC_ID_PCM_F32LE,
  AV_CODEC_ID_PCM_F64BE,
  AV_CODEC_ID_PCM_F64LE,
  AV_CODEC_ID_PCM_MULAW,
  AV_CODEC_ID_PCM_S16BE,
  AV_CODEC_ID_PCM_S16LE,
  AV_CODEC_ID_PCM_S24BE,
  AV_CODEC_ID_PCM_S24LE,
  AV_CODEC_ID_PCM_S32BE,
  AV_CODEC_ID_PCM_S32LE,
  AV_CODEC_ID_PCM_S64BE,
  AV_CODEC_ID_PCM_S64LE,
  AV_CODEC_ID_PCM_U8,
  type AVCodecID,
} from 'node-av/constants'
import type { Stream } from 'node-av/lib'

export const isRifx = (head: Buffer): boolean => head.toString('latin1', 0, 4) === 'RIFX'

/** Maps FFmpeg's codecs of a WAV to what they are if the file is big-endian. */
const BIG_ENDIAN = new Map<AVCodecID, AVCodecID>([
  [AV_CODEC_ID_PCM_S16LE, AV_CODEC_ID_PCM_S16BE],
  [AV_CODEC_ID_PCM_S24LE, AV_CODEC_ID_PCM_S24BE],
  [AV_CODEC_ID_PCM_S32LE, AV_CODEC_ID_PCM_S32BE],
  [AV_CODEC_ID_PCM_S64LE, AV_CODEC_ID_PCM_S64BE],
  [AV_CODEC_ID_PCM_F32LE, AV_CODEC_ID_PCM_F32BE],
  [AV_CODEC_ID_PCM_F64LE, AV_CODEC_ID_PCM_F64BE],
])
/** Codecs for which the byte order makes no difference. */
const BYTEWISE: readonly AVCodecID[] = [
  AV_CODEC_ID_PCM_U8,
  AV_CODEC_ID_PCM_ALAW,
  AV_CODEC_ID_PCM_MULAW,
]

/** Corrects the codec; false if its byte order is unknown. */
export function swapBytes({ codecpar }: Stream): boolean {
  const { codecId } = codecpar
  if (BYTEWISE.includes(codecId)) return true
  const bigEndian = BIG_ENDIAN.get(codecId)
  if (bigEndian !== undefined) codecpar.codecId = bigEndian
  return bigEndian !== undefined
}
