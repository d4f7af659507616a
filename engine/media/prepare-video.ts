/** Prepares the video stream of a source for MP4: copied, or transcoded. */

import { join } from 'node:path'
import {
  AV_CODEC_ID_AV1,
  AV_CODEC_ID_H264,
  AV_CODEC_ID_HEVC,
  AV_CODEC_ID_MJPEG,
  AV_CODEC_ID_MPEG1VIDEO,
  AV_CODEC_ID_MPEG2VIDEO,
  AV_CODEC_ID_MPEG4,
  AV_CODEC_ID_VP9,
  AV_NOPTS_VALUE,
  type AVCodecID,
} from 'node-av/constants'
import { avGetCodecName } from 'node-av/lib'
import { isVideo, startSecondsOf } from './open-media.ts'
import { PacketReader } from './packet-reader.ts'
import { PictureCounter, type PictureProgress } from './picture-progress.ts'
import { transcodeVideo } from './transcode-video.ts'

/** The codings that FFmpeg's MP4 muxer supports. */
const HELD_BY_MP4: readonly AVCodecID[] = [
  AV_CODEC_ID_H264,
  AV_CODEC_ID_HEVC,
  AV_CODEC_ID_AV1,
  AV_CODEC_ID_VP9,
  AV_CODEC_ID_MPEG4,
  AV_CODEC_ID_MPEG2VIDEO,
  AV_CODEC_ID_MPEG1VIDEO,
  AV_CODEC_ID_MJPEG,
]

export interface PreparedVideo {
  /** The source itself, or a file beside it with the video coded anew. */
  path: string
  /** The time on this file's clock that is the start of the media, in seconds. */
  startSeconds: number
  /** The stream of sound whose times the video goes by; absent: its own are right. */
  soundIndex?: number
  /** FFmpeg's name of the source's coding. */
  codec: string
  /** Why the video had to be coded anew, in words that end a sentence; null: it can be copied. */
  recodedBecause: string | null
  /** Whether pictures that had to be coded anew are two fields each, as those of the source. */
  isInterlaced?: boolean
}

export interface VideoOptions {
  /** A local file that `openMixture` found to have a video. */
  path: string
  /** Its stream that is separated; absent: no clock is put right. */
  soundIndex?: number
  /** Where a video that is coded anew goes, as `video.mp4`. */
  folder: string
}

/**
 * Reads all packets of the video once: whether they can be copied shows only at the last, and how
 * long it takes to code them anew goes by their number.
 * @param report called while the video is coded anew, from the start of that
 * @throws Error when the video can be neither copied nor coded anew
 */
export async function prepareVideo(
  options: VideoOptions,
  report: (progress: PictureProgress) => void = () => {},
): Promise<PreparedVideo> {
  const { path: source, soundIndex } = options
  const reader = await PacketReader.open(source, isVideo, soundIndex)
  const startSeconds = startSecondsOf(reader.context)
  const { codecId } = reader.stream.codecpar
  const codec = avGetCodecName(codecId) ?? 'unknown'
  const { packets, fault } = await readAll(reader).finally(() => reader.close())
  const recodedBecause = HELD_BY_MP4.includes(codecId) ? fault : `MP4 can't hold ${codec}`
  const clock = soundIndex === undefined ? {} : { soundIndex }
  if (recodedBecause === null) {
    return { path: source, startSeconds, ...clock, codec, recodedBecause }
  }
  const path = join(options.folder, 'video.mp4')
  const counter = new PictureCounter(packets, report)
  const anew = { path: source, to: path, startSeconds, ...clock, onPacket: () => counter.count() }
  const { isInterlaced } = await transcodeVideo(anew)
  return { path, startSeconds: 0, codec, recodedBecause, isInterlaced }
}

/** Counts the packets, and finds what MP4 can't take of their times: it needs each, in order. */
async function readAll(reader: PacketReader): Promise<{ packets: number; fault: string | null }> {
  const { packet } = reader
  let fault: string | null = null
  let [packets, last] = [0, AV_NOPTS_VALUE] // the least of all times
  for (; await reader.next(); packets++) {
    const { pts, dts } = packet
    if (pts === AV_NOPTS_VALUE || dts === AV_NOPTS_VALUE) fault ??= 'its pictures lack times'
    else if (dts <= last || pts < dts) fault ??= 'its pictures are not in the order of their times'
    last = dts
  }
  return { packets, fault: packets === 0 ? 'no picture could be read' : fault }
}
