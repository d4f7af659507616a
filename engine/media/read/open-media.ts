/**
 * Opens a local file and checks that it is media with sound. FFmpeg alone accepts too much: without
 * restrictions it decodes a text file as speech. So the container must be one of those below, and
 * its signature must be in the bytes; the name of the file is ignored.
 */

import { open } from 'node:fs/promises'
import {
  AV_CODEC_ID_DSD_LSBF,
  AV_CODEC_ID_DSD_LSBF_PLANAR,
  AV_CODEC_ID_DSD_MSBF,
  AV_CODEC_ID_DSD_MSBF_PLANAR,
  AV_CODEC_ID_H264,
  AV_DISPOSITION_ATTACHED_PIC,
  AV_DISPOSITION_TIMED_THUMBNAILS,
  AV_NOPTS_VALUE,
  AVDISCARD_ALL,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
  type AVCodecID,
} from 'node-av/constants'
import { Codec, Dictionary, FormatContext, Packet, type Rational, type Stream } from 'node-av/lib'
import { ServiceError } from '../../../shared/errors.ts'
import { contentName } from './content-name.ts'
import { assertNotEncrypted } from './encryption.ts'
import {
  throwIfOutOfMemory,
  FfmpegCallError,
  isDiskFull,
  isOutOfMemory,
  reason,
} from '../ffmpeg.ts'
import type { ByteRange } from './joined-files.ts'
import { arePair, describeTracks, soundTracks } from './tracks.ts'

/**
 * FFmpeg's demuxers for files without timestamps, in which one piece of sound follows the other.
 */
const UNTIMED = (
  'wav w64 aiff au caf mp3 flac aac loas ac3 eac3 dts amr dsf iff wv ape tta tak mpc mpc8 voc ' +
  'nistsphere dv'
).split(' ')
/** Containers in which each piece of sound or picture has a timestamp. */
const TIMED = ['ogg', 'mov', 'matroska', 'avi', 'mpegts', 'mpeg', 'asf', 'flv', 'mxf']

/** Containers that people use. None of them reads a second file or opens an address. */
const CONTAINERS = [...UNTIMED, ...TIMED]

/** FFmpeg's sound decoders. With only these, analysing a file decodes no picture. */
const SOUND_DECODERS = Codec.getCodecList()
  .filter((codec) => codec.isDecoder() && codec.type === AVMEDIA_TYPE_AUDIO)
  .flatMap(({ name }) => name ?? [])

const KNOWN_FORMATS =
  'WAV, AIFF, FLAC, MP3, AAC, M4A, Ogg, Opus, WMA and AMR files work, and the sound of MP4, MOV, ' +
  'MKV, WebM, AVI, WMV, FLV and MPEG videos'

/**
 * With a lower score FFmpeg has seen at most one frame header, as in noise; a short MP3 gets 5, a
 * WAV 99.
 */
const PROBE_SCORE_MIN = 5

/**
 * In hertz. Speech codecs start at 8 kHz, old games at 4, and studio converters end at 768. A
 * header that states more is wrong, or was made to exhaust memory.
 */
const SAMPLE_RATE_MIN = 1_000
export const SAMPLE_RATE_MAX = 768_000
/** DSD512, of which FFmpeg makes one sample for every eight bits. */
const DSD_RATE_MAX = (512 * 44_100) / 8

const DSD: readonly AVCodecID[] = [
  AV_CODEC_ID_DSD_LSBF,
  AV_CODEC_ID_DSD_MSBF,
  AV_CODEC_ID_DSD_LSBF_PLANAR,
  AV_CODEC_ID_DSD_MSBF_PLANAR,
]

/** FFmpeg's resampler supports no more. */
const CHANNELS_MAX = 64

/** A film with sound in ten languages and all its fonts has fewer; each stream takes a decoder. */
const STREAMS_MAX = 256

/**
 * How many packets FFmpeg checks for a codec other than the one that WAV states, namely DTS, as on
 * discs. Checking its default of 32 takes longer than decoding a minute of sound; these hold 0.4 s.
 */
const WAV_PROBE_PACKETS_MAX = 4

const TIME_BASE_PER_SECOND = 1_000_000

export interface Media {
  context: FormatContext
  stream: Stream
  /** Its moving picture; null if it has none. */
  video: Stream | null
  decoder: Codec
  /** Start of the media on its own clock, in seconds; a stream may start later. */
  startSeconds: number
  container: string
  /** Whether the file has timestamps of its own; otherwise FFmpeg counts. */
  hasTimes: boolean
  /** Whether track 2 is the second channel of this one's sound. */
  isPaired: boolean
  /** Sentences for the log: which audio tracks the file has, and which one is read. */
  trackRemarks: readonly string[]
}

export interface OpenOptions {
  /** The part of the file to read as if it were all of it. */
  range?: ByteRange | undefined
  /** Number of the audio track, from 1 (default: the best one, or two that form a pair). */
  track?: number | undefined
}

/**
 * Opens an audio track of a file; the caller closes `context`.
 * @throws ServiceError INVALID_MEDIA, NO_AUDIO_STREAM
 */
export async function openMedia(path: string, options: OpenOptions = {}): Promise<Media> {
  const head = await readHead(path, options.range?.start)
  const context = new FormatContext()
  try {
    return await judge(context, { ...options, path, head })
  } catch (error) {
    await context.closeInput()
    throw error
  }
}

interface InputOptions {
  /** The part of the file that is a file of its own (default: all of it). */
  range?: ByteRange | undefined
  /** Decoders that may analyse its streams (default: all). */
  decoders?: readonly string[]
  /** How many packets are checked for other codecs (default: FFmpeg's choice). */
  probePacketsMax?: number
}

/** Opens a local file, but no other file that it refers to; returns FFmpeg's code. */
export async function openInput(
  context: FormatContext,
  path: string,
  { range, decoders, probePacketsMax }: InputOptions = {},
): Promise<number> {
  const options = Dictionary.fromObject({
    protocol_whitelist: range ? 'file,subfile' : 'file',
    format_whitelist: CONTAINERS.join(','),
    ...(decoders && { codec_whitelist: decoders.join(',') }),
    ...(probePacketsMax && { max_probe_packets: String(probePacketsMax) }),
  })
  const part = range ? `subfile,,start,${range.start},end,${range.end},,:` : ''
  const opened = await context.openInput(`${part}file:${path}`, null, options)
  options.free()
  return opened
}

interface OpenContext extends OpenOptions {
  path: string
  head: Buffer
}

async function judge(context: FormatContext, opening: OpenContext): Promise<Media> {
  await analyse(context, opening)
  const { path, track, range } = opening
  const streams = context.streams
  const wantedIndex = track === undefined ? -1 : indexOfTrack(streams, track)
  const { streamIndex, decoder } = context.findBestStream(AVMEDIA_TYPE_AUDIO, wantedIndex, -1, true)
  const stream = streams[streamIndex]
  if (!stream || !decoder) throw noUsableAudio(streams)
  const { sampleRate, channels, codecId } = stream.codecpar
  assertSupported({ sampleRate, channels, codecId })
  const startSeconds = await earliestStart(context, path, range)
  const video = streams.find(isVideo) ?? null
  const isPaired = track === undefined && arePair(streams)
  const chosen = isPaired ? soundTracks(streams)[0]! : stream
  readOnly(context, [chosen, video])
  const container = context.iformat?.name ?? 'unknown'
  return {
    context,
    stream: chosen,
    video,
    decoder,
    container,
    hasTimes: !UNTIMED.includes(container),
    startSeconds,
    isPaired,
    trackRemarks: describeTracks(streams, { chosen, isPaired }),
  }
}

async function analyse(context: FormatContext, { path, range, head }: OpenContext): Promise<void> {
  const opened = await openInput(context, path, {
    range,
    decoders: SOUND_DECODERS,
    ...(isWav(head) && { probePacketsMax: WAV_PROBE_PACKETS_MAX }),
  })
  const notMedia = (cause: string) => invalidMedia(`The file is ${contentName(head)}`, cause)
  // FFmpeg would read its samples as little-endian.
  if (head.toString('latin1', 0, 4) === 'RIFX') throw notMedia('big-endian')
  throwIfOutOfMemory(opened)
  if (opened < 0) throw notMedia(reason(opened))
  if (context.probeScore < PROBE_SCORE_MIN) throw notMedia(`probe score ${context.probeScore}`)
  assertFewStreams(context)
  const analysed = await context.findStreamInfo()
  assertFewStreams(context) // some containers have no list of streams
  if (analysed < 0 || context.nbStreams === 0) throw notMedia(`no streams: ${reason(analysed)}`)
  await assertNotEncrypted(context, path, range?.start)
}

/** Returns the index of its stream; -1 if there is no sound at all. */
function indexOfTrack(streams: readonly Stream[], track: number): number {
  const tracks = soundTracks(streams)
  if (track <= tracks.length || tracks.length === 0) return tracks[track - 1]?.index ?? -1
  const count = tracks.length === 1 ? '1 track' : `${tracks.length} tracks`
  throw new ServiceError('INVALID_MEDIA', {
    message: `The file has ${count} of sound, so audio_track can't be ${track}.`,
  })
}

/** Ignores the packets of all streams but these. */
export function readOnly(context: FormatContext, streams: readonly (Stream | null)[]): void {
  const indexes = new Set(streams.map((stream) => stream?.index))
  for (const stream of context.streams) {
    if (!indexes.has(stream.index)) stream.discard = AVDISCARD_ALL
  }
}

const isWav = (head: Buffer): boolean => /^(RIFF|RF64)....WAVE/s.test(head.toString('latin1'))

function assertFewStreams({ nbStreams }: FormatContext): void {
  if (nbStreams <= STREAMS_MAX) return
  throw invalidMedia(`The file has ${nbStreams} streams; it may have ${STREAMS_MAX} at most`)
}

async function readHead(path: string, start = 0): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, start)
    if (bytesRead === 0) throw invalidMedia('The file is empty')
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

export const isAudio = ({ codecpar }: Stream): boolean => codecpar.codecType === AVMEDIA_TYPE_AUDIO

/** Whether a stream is a moving picture, unlike cover art and pictures of chapters. */
export const isVideo = (stream: Stream): boolean =>
  stream.codecpar.codecType === AVMEDIA_TYPE_VIDEO &&
  !stream.hasDisposition(AV_DISPOSITION_ATTACHED_PIC) &&
  !stream.hasDisposition(AV_DISPOSITION_TIMED_THUMBNAILS)

/**
 * Returns the aspect ratio of a pixel, width to height; 0 if unknown. The container takes
 * precedence over the codec.
 */
export const pixelAspectOf = ({ sampleAspectRatio, codecpar }: Stream): Rational =>
  sampleAspectRatio.num > 0 ? sampleAspectRatio : codecpar.sampleAspectRatio

function noUsableAudio(streams: readonly Stream[]): ServiceError {
  if (streams.some(isAudio)) return invalidMedia('The codec of the sound is not supported')
  return new ServiceError('NO_AUDIO_STREAM', {
    message: streams.some(isVideo)
      ? 'The video has no sound; send a video with an audio track, or an audio file.'
      : 'The file has no sound; send an audio file, or a video with an audio track.',
  })
}

/**
 * Refuses sound with properties that no recording has. A value of 0 means that it is not known yet.
 * @throws ServiceError INVALID_MEDIA naming what was found and the valid range
 */
export function assertSupported({
  sampleRate,
  channels,
  codecId,
}: {
  sampleRate: number
  channels: number
  codecId: AVCodecID
}): void {
  const most = DSD.includes(codecId) ? DSD_RATE_MAX : SAMPLE_RATE_MAX
  const isRateSupported = sampleRate >= SAMPLE_RATE_MIN && sampleRate <= most
  if (sampleRate !== 0 && !isRateSupported) {
    throw invalidMedia(
      `The sample rate of the sound is ${sampleRate} Hz; ` +
        `it must be ${SAMPLE_RATE_MIN} to ${most} Hz`,
    )
  }
  if (channels > CHANNELS_MAX) {
    throw invalidMedia(`The sound has ${channels} channels; it may have ${CHANNELS_MAX} at most`)
  }
}

/**
 * Returns the refusal for a decoding error: whatever FFmpeg cannot decode is the file's fault,
 * except for a full disk or memory. Any other error is returned as it is.
 */
export const refusalOf = (error: unknown): unknown =>
  error instanceof FfmpegCallError && !isDiskFull(error) && !isOutOfMemory(error)
    ? invalidMedia('The sound could not be decoded', error)
    : error

/**
 * Whether FFmpeg could read a packet. If it could not, this is the end of the file, which may be
 * truncated, unless memory ran out.
 * @throws FfmpegCallError
 */
export function isReadOrThrow(code: number): boolean {
  throwIfOutOfMemory(code)
  return code >= 0
}

export const invalidMedia = (problem: string, cause?: unknown): ServiceError =>
  new ServiceError('INVALID_MEDIA', { message: `${problem}. ${KNOWN_FORMATS}.`, cause })

/** Start of the media on its own clock, in seconds. */
export const startSecondsOf = ({ startTime }: FormatContext): number =>
  startTime === AV_NOPTS_VALUE ? 0 : Number(startTime) / TIME_BASE_PER_SECOND

/**
 * Finds the start of the media without decoding pictures. For H.264 in Matroska, which does not
 * state when pictures are decoded, FFmpeg then takes the start of the sound for that of the
 * pictures.
 */
async function earliestStart(
  context: FormatContext,
  path: string,
  range?: ByteRange,
): Promise<number> {
  const start = startSecondsOf(context)
  const video = context.streams.find(
    (stream) => isVideo(stream) && stream.codecpar.codecId === AV_CODEC_ID_H264,
  )
  if (!video || !context.iformat?.name?.startsWith('matroska')) return start
  return Math.min(start, (await firstSeconds(path, video.index, range)) ?? start)
}

/** When the first packet of a stream is due, in seconds; null if unknown. */
async function firstSeconds(
  path: string,
  streamIndex: number,
  range?: ByteRange,
): Promise<number | null> {
  const context = new FormatContext()
  const packet = new Packet()
  packet.alloc()
  try {
    if ((await openInput(context, path, { range, decoders: SOUND_DECODERS })) < 0) return null
    while ((await context.readFrame(packet)) >= 0) {
      const { pts } = packet
      const isFirst = packet.streamIndex === streamIndex
      packet.unref()
      if (!isFirst) continue
      const { num, den } = context.streams[streamIndex]!.timeBase
      return pts === AV_NOPTS_VALUE ? null : (Number(pts) * num) / den
    }
    return null
  } finally {
    packet.free()
    await context.closeInput()
  }
}
