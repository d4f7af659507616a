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
import { lengthOfPart } from '../read/decode.ts'
import { type ByteRange, joinedFiles } from '../read/joined-files.ts'
import { isVideo, startSecondsOf } from '../read/open-media.ts'
import { PacketReader } from '../read/packet-reader.ts'
import { VideoCounter, type VideoProgress } from './video-progress.ts'
import { transcodeVideo, transparencyDecoder, type VideoPart } from './transcode-video.ts'

/** The codecs that FFmpeg's MP4 muxer supports. */
const MP4_CODECS: readonly AVCodecID[] = [
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
  /** The source itself, or a file next to it with the re-encoded video. */
  path: string
  /** The start of the media on this file's clock, in seconds. */
  startSeconds: number
  /** The sound stream whose times correct those of the video; absent if these are correct. */
  soundIndex?: number
  /** FFmpeg's name of the source's codec. */
  codec: string
  /** Why the video had to be re-encoded, as the end of a sentence; null if it can be copied. */
  recodedBecause: string | null
  /** Whether re-encoded pictures consist of two fields each, like those of the source. */
  isInterlaced?: boolean
}

export interface VideoOptions {
  /** A local file in which `openMixture` found a video. */
  path: string
  /** The source's stream that is separated; absent if no clock needs correcting. */
  soundIndex?: number
  /** As in `Mixture`. */
  track?: number | undefined
  /** Folder for a re-encoded video, as `video.mp4`. */
  folder: string
}

/**
 * Reads all packets of the video once, because only the last one shows whether they can be copied,
 * and their number determines how long it takes to re-encode them.
 * @param report called while the video is re-encoded, from the start
 * @throws Error if the video can be neither copied nor re-encoded
 */
export async function prepareVideo(
  options: VideoOptions,
  report: (progress: VideoProgress) => void = () => {},
): Promise<PreparedVideo> {
  const { path: source, soundIndex, folder } = options
  const files = await joinedFiles(source)
  const { parts, codec, packets, recodedBecause } =
    files.length > 0 ? await lookAtAll(options, files) : await lookAt(options)
  if (recodedBecause === null) {
    const clock = soundIndex === undefined ? {} : { soundIndex }
    return { path: source, startSeconds: parts[0]!.startSeconds, ...clock, codec, recodedBecause }
  }
  const path = join(folder, 'video.mp4')
  const counter = new VideoCounter(packets, report)
  const onPacket = () => counter.count()
  const coding = { path: source, to: path, parts, soundIndex, onPacket }
  const { isInterlaced } = await transcodeVideo(coding)
  return { path, startSeconds: 0, codec, recodedBecause, isInterlaced }
}

interface VideoProbe extends Pick<PreparedVideo, 'codec' | 'recodedBecause'> {
  parts: VideoPart[]
  packets: number
}

/** Reads a file, or one of several concatenated ones. */
async function lookAt({ path, soundIndex }: VideoOptions, range?: ByteRange): Promise<VideoProbe> {
  const reader = await PacketReader.open(path, isVideo, { soundIndex, range })
  try {
    const { codecId } = reader.stream.codecpar
    const codec = avGetCodecName(codecId) ?? 'unknown'
    const { packets, fault } = await readAll(reader)
    const unheld = transparencyDecoder(reader.stream) ? `the transparency of ${codec}` : codec
    const isHeld = MP4_CODECS.includes(codecId) && unheld === codec
    const recodedBecause = isHeld ? fault : `MP4 can't hold ${unheld}`
    const startSeconds = startSecondsOf(reader.context)
    const part = { startSeconds, showFrom: 0, showUntil: Infinity, ...(range && { range }) }
    return { parts: [part], codec, packets, recodedBecause }
  } finally {
    await reader.close()
  }
}

/** Reads several concatenated files: the pictures of each are shown as long as its sound lasts. */
async function lookAtAll(options: VideoOptions, files: readonly ByteRange[]): Promise<VideoProbe> {
  const looks: VideoProbe[] = []
  let seconds = 0
  for (const range of files) {
    const length = await lengthOfPart(options.path, { range, track: options.track })
    const showFrom = seconds
    seconds += length?.seconds ?? 0
    if (!length?.hasVideo) continue
    const look = await lookAt(options, range)
    const showUntil = range === files.at(-1) ? Infinity : seconds
    looks.push({ ...look, parts: [{ ...look.parts[0]!, showFrom, showUntil }] })
  }
  return {
    parts: looks.flatMap(({ parts }) => parts),
    codec: looks[0]?.codec ?? 'unknown',
    packets: looks.reduce((sum, { packets }) => sum + packets, 0),
    recodedBecause: `the source is ${files.length} recordings, one after the other`,
  }
}

/**
 * Counts the packets, and finds out whether MP4 can hold their times, all of which must be present
 * and in order.
 */
async function readAll(reader: PacketReader): Promise<{ packets: number; fault: string | null }> {
  const { packet } = reader
  let fault: string | null = null
  let [packets, last] = [0, AV_NOPTS_VALUE] // the smallest time
  for (; await reader.next(); packets++) {
    const { pts, dts } = packet
    if (pts === AV_NOPTS_VALUE || dts === AV_NOPTS_VALUE) fault ??= 'its pictures lack times'
    else if (dts <= last || pts < dts) fault ??= 'its pictures are not in the order of their times'
    last = dts
  }
  return { packets, fault: packets === 0 ? 'no picture could be read' : fault }
}
