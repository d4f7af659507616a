/** Muxes a video and a sound track into one MP4, packet by packet, without re-encoding. */

import { stat } from 'node:fs/promises'
import { AV_CODEC_ID_HEVC } from 'node-av/constants'
import { Dictionary, FormatContext, Packet, type Stream } from 'node-av/lib'
import type { EncodedFile } from './encode.ts'
import { check } from '../ffmpeg.ts'
import { isAudio, isVideo, pixelAspectOf } from '../read/open-media.ts'
import { PacketReader } from '../read/packet-reader.ts'
import type { PreparedVideo } from './prepare-video.ts'

export interface MuxOptions {
  video: Pick<PreparedVideo, 'path' | 'startSeconds' | 'soundIndex'>
  /** An M4A file whose first sample is at the start of the media. */
  audioPath: string
  path: string
}

/**
 * Writes the MP4 with its index first, so that it can be played while it is downloaded. Rotation,
 * pixel aspect and titles of the source are kept. Except for the index, memory does not grow with
 * the length of the media.
 * @throws FfmpegCallError if MP4 cannot hold the video after all, or the disk is full
 */
export async function muxVideo({ video, audioPath, path }: MuxOptions): Promise<EncodedFile> {
  const readers: PacketReader[] = []
  const output = new FormatContext()
  try {
    const videoReader = await PacketReader.open(video.path, isVideo, video)
    readers.push(videoReader)
    const sound = await PacketReader.open(audioPath, isAudio)
    readers.push(sound)
    check(output.allocOutputContext2(null, 'mp4', `file:${path}`), 'choose a container')
    const tracks = [
      new Track(videoReader, addStream(output, videoReader.stream), video.startSeconds),
      new Track(sound, addStream(output, sound.stream), 0),
    ]
    output.metadata = videoReader.context.metadata
    check(await output.openOutput(), 'make the file')
    const options = Dictionary.fromObject({ movflags: '+faststart' })
    check(await output.writeHeader(options), 'write the header')
    options.free()
    await interleave(output, tracks)
    check(await output.writeTrailer(), 'complete the file')
  } finally {
    await output.closeOutput()
    output.freeContext()
    for (const reader of readers) await reader.close()
  }
  return { bytes: (await stat(path)).size, contentType: 'video/mp4', extension: 'mp4' }
}

function addStream(output: FormatContext, source: Stream): Stream {
  const stream = output.newStream()
  check(source.codecpar.copy(stream.codecpar), 'describe the stream')
  // 0 means the container's default. Of the two names for HEVC, Apple only plays this one.
  stream.codecpar.codecTag = source.codecpar.codecId === AV_CODEC_ID_HEVC ? 'hvc1' : 0
  stream.timeBase = source.timeBase
  stream.avgFrameRate = source.avgFrameRate
  stream.sampleAspectRatio = stream.codecpar.sampleAspectRatio = pixelAspectOf(source)
  return stream
}

/** The packets of one stream on their way from one file to another. */
class Track {
  readonly reader: PacketReader
  readonly #to: Stream
  readonly #start: bigint
  readonly #startSeconds: number
  /** For packets without a duration, in time units of the source. */
  readonly #usualDuration: bigint

  constructor(reader: PacketReader, to: Stream, startSeconds: number) {
    const { num, den } = reader.stream.timeBase
    const { num: frames, den: seconds } = reader.stream.avgFrameRate
    this.#usualDuration = frames > 0 ? BigInt(Math.round((seconds * den) / (frames * num))) : 0n
    this.reader = reader
    this.#to = to
    this.#startSeconds = startSeconds
    this.#start = BigInt(Math.round((startSeconds * den) / num))
  }

  /** When the current packet is due, in seconds from the start of the media. */
  get seconds(): number {
    return this.reader.seconds - this.#startSeconds
  }

  /** Returns the current packet in the form that the output takes. */
  take(): Packet {
    const { packet, stream } = this.reader
    packet.streamIndex = this.#to.index
    packet.pts -= this.#start
    packet.dts -= this.#start
    if (packet.duration <= 0n) packet.duration = this.#usualDuration // else the last is not shown
    packet.rescaleTs(stream.timeBase, this.#to.timeBase)
    return packet
  }
}

/** Writes the packets of all tracks in the order in which they are due. */
async function interleave(output: FormatContext, tracks: readonly Track[]): Promise<void> {
  const left: Track[] = []
  for (const track of tracks) if (await track.reader.next()) left.push(track)
  while (left.length > 0) {
    const due = left.reduce((first, track) => (track.seconds < first.seconds ? track : first))
    check(await output.interleavedWriteFrame(due.take()), 'write to the file')
    if (!(await due.reader.next())) left.splice(left.indexOf(due), 1)
  }
}
