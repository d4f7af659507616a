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
import { PictureCounter, type PictureProgress } from './picture-progress.ts'
import { transcodeVideo, transparencyDecoder, type VideoPart } from './transcode-video.ts'

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
  /** The source itself, or a file next to it with the video re-encoded. */
  path: string
  /** The time on this file's clock that is the start of the media, in seconds. */
  startSeconds: number
  /** The stream of sound whose times the video goes by; absent: its own are right. */
  soundIndex?: number
  /** FFmpeg's name of the source's coding. */
  codec: string
  /** Why the video had to be re-encoded, in words that end a sentence; null: it can be copied. */
  recodedBecause: string | null
  /** True if pictures that had to be re-encoded are two fields each, as those of the source. */
  isInterlaced?: boolean
}

export interface VideoOptions {
  /** A local file that `openMixture` found to have a video. */
  path: string
  /** Its stream that is separated; absent: no clock is put right. */
  soundIndex?: number
  /** As of `Mixture`. */
  track?: number | undefined
  /** Folder of a video that is encoded again, as `video.mp4`. */
  folder: string
}

/**
 * Reads all packets of the video once: whether they can be copied shows only at the last, and how
 * long it takes to re-encode them goes by their number.
 * @param report called while the video is re-encoded, from the start of that
 * @throws Error when the video can be neither copied nor re-encoded
 */
export async function prepareVideo(
  options: VideoOptions,
  report: (progress: PictureProgress) => void = () => {},
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
  const counter = new PictureCounter(packets, report)
  const onPacket = () => counter.count()
  const coding = { path: source, to: path, parts, soundIndex, onPacket }
  const { isInterlaced } = await transcodeVideo(coding)
  return { path, startSeconds: 0, codec, recodedBecause, isInterlaced }
}

interface VideoProbe extends Pick<PreparedVideo, 'codec' | 'recodedBecause'> {
  parts: VideoPart[]
  packets: number
}

/** Reads a file, or one of several in one. */
async function lookAt({ path, soundIndex }: VideoOptions, range?: ByteRange): Promise<VideoProbe> {
  const reader = await PacketReader.open(path, isVideo, { soundIndex, range })
  try {
    const { codecId } = reader.stream.codecpar
    const codec = avGetCodecName(codecId) ?? 'unknown'
    const { packets, fault } = await readAll(reader)
    const unheld = transparencyDecoder(reader.stream) ? `the transparency of ${codec}` : codec
    const isHeld = HELD_BY_MP4.includes(codecId) && unheld === codec
    const recodedBecause = isHeld ? fault : `MP4 can't hold ${unheld}`
    const startSeconds = startSecondsOf(reader.context)
    const part = { startSeconds, showFrom: 0, showUntil: Infinity, ...(range && { range }) }
    return { parts: [part], codec, packets, recodedBecause }
  } finally {
    await reader.close()
  }
}

/** Reads several files in one: the pictures of each are shown as long as its sound lasts. */
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
