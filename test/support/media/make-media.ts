/** Makes media files of every kind for tests. */

import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_DISPOSITION_ATTACHED_PIC,
  AV_PKT_DATA_DISPLAYMATRIX,
  AV_PIX_FMT_GRAY8,
  AV_PIX_FMT_YUV420P,
  AV_PIX_FMT_YUVJ420P,
  AV_SAMPLE_FMT_FLT,
  AV_SAMPLE_FMT_FLTP,
  AV_SAMPLE_FMT_S16,
  AV_SAMPLE_FMT_S16P,
  AV_SAMPLE_FMT_S32,
  AVFMT_GLOBALHEADER,
  type AVDisposition,
  type AVPixelFormat,
  type AVSampleFormat,
  type FFAudioEncoder,
} from 'node-av/constants'
import {
  avChannelLayoutDefault,
  Codec,
  CodecContext,
  Dictionary,
  FFmpegError,
  FormatContext,
  Frame,
  Packet,
  Rational,
  SoftwareResampleContext,
  type Stream,
} from 'node-av/lib'
import type { Planes } from './signals.ts'

export interface AudioTrack {
  planes: Planes
  sampleRate: number
  /** FFmpeg's name for the encoder, such as `libmp3lame`. */
  encoder: string
  bitRate?: number
  /** Options for FFmpeg's encoder. */
  options?: Record<string, string>
  /** Seconds from the start of the file to the start of the track. */
  delay?: number
  /** Shifts everything after a sample by a number of seconds; negative for earlier. */
  jumps?: readonly { afterSample: number; seconds: number }[]
  /** Metadata, such as the language. */
  tags?: Record<string, string>
  disposition?: AVDisposition
}

export interface VideoTrack {
  seconds: number
  /** FFmpeg's name for the encoder, such as `libx264`. */
  encoder: string
  /** Whether the track is a single picture that belongs to the sound. */
  isCoverArt?: boolean
  /** Seconds from the start of the file to the start of the track. */
  delay?: number
  /** Shifts everything after a frame by a number of seconds. */
  jumps?: readonly { afterFrame: number; seconds: number }[]
  /** Options for FFmpeg's encoder. */
  options?: Record<string, string>
  /** Numbers of the white frames; all others are a moving pattern. */
  flashes?: readonly number[]
  width?: number
  height?: number
  /** Default: 10, which the container does not state. */
  framesPerSecond?: number
  /** Adds the display matrix of a quarter turn, as phones do. */
  isTurned?: boolean
  /** Defaults to the encoder's usual format. */
  format?: AVPixelFormat
  /** Sets further properties of the encoder, such as colours. */
  set?: (codec: CodecContext) => void
  /** Paints each picture instead of the pattern. */
  paint?: (frame: Frame, number: number) => void
  /** Pixel aspect ratio that the container states; the coded stream may state another. */
  pixelAspect?: Rational
}

export interface Tracks {
  /** Metadata, such as title and artist. */
  tags?: Record<string, string>
  /** One track, or several. */
  audio?: AudioTrack | readonly AudioTrack[]
  video?: VideoTrack
  /** Options for FFmpeg's muxer. */
  containerOptions?: Record<string, string>
}

const SAMPLE_FORMATS: Partial<Record<string, AVSampleFormat>> = {
  pcm_s16le: AV_SAMPLE_FMT_S16,
  pcm_s16be: AV_SAMPLE_FMT_S16,
  pcm_s24le: AV_SAMPLE_FMT_S32,
  pcm_f32le: AV_SAMPLE_FMT_FLT,
  pcm_f32be: AV_SAMPLE_FMT_FLT,
  flac: AV_SAMPLE_FMT_S16,
  dca: AV_SAMPLE_FMT_S32,
  libopus: AV_SAMPLE_FMT_FLT,
  alac: AV_SAMPLE_FMT_S16P,
  mp2: AV_SAMPLE_FMT_S16,
  tta: AV_SAMPLE_FMT_S16,
  wavpack: AV_SAMPLE_FMT_S16P,
}

const PIXEL_FORMATS: Partial<Record<string, AVPixelFormat>> = {
  mjpeg: AV_PIX_FMT_YUVJ420P,
  png: AV_PIX_FMT_GRAY8,
}

/** A 3 x 3 matrix by rows, in fixed point: 16 fractional bits, or 30 in the last column. */
const QUARTER_TURN = Buffer.from(Int32Array.of(0, 1 << 16, 0, -1 << 16, 0, 0, 0, 0, 1 << 30).buffer)

const WIDTH = 64
const HEIGHT = 48
const FRAMES_PER_SECOND = 10

/**
 * Writes a media file with audio streams, one video stream (a moving pattern), or both.
 * @param container FFmpeg's name for the muxer, such as `mp4`, `mp3`, `matroska`, `mpegts`
 */
export async function makeMedia(path: string, container: string, tracks: Tracks): Promise<void> {
  const { audio = [], video, tags = {}, containerOptions = {} } = tracks
  const sounds = [audio].flat() as AudioTrack[]
  const output = new FormatContext()
  FFmpegError.throwIfError(output.allocOutputContext2(null, container, path), 'container')
  const opened = [
    ...(video ? [await openTrack(output, video, (codec) => setVideo(codec, video))] : []),
  ]
  const audioTracks: Track[] = []
  for (const sound of sounds) {
    const track = await openTrack(output, sound, (codec) => setAudio(codec, sound))
    track.stream.metadata = Dictionary.fromObject(sound.tags ?? {})
    if (sound.disposition) track.stream.setDisposition(sound.disposition)
    audioTracks.push(track)
  }
  if (video?.framesPerSecond) {
    opened[0]!.stream.avgFrameRate = new Rational(video.framesPerSecond, 1)
  }
  if (video?.pixelAspect) {
    const { stream } = opened[0]!
    stream.sampleAspectRatio = stream.codecpar.sampleAspectRatio = video.pixelAspect
  }
  if (video?.isTurned)
    opened[0]!.stream.codecpar.addCodedSideData(AV_PKT_DATA_DISPLAYMATRIX, QUARTER_TURN)
  if (video?.isCoverArt) opened[0]!.stream.setDisposition(AV_DISPOSITION_ATTACHED_PIC)
  output.metadata = Dictionary.fromObject(tags)
  await output.openOutput()
  const options = Dictionary.fromObject(containerOptions)
  FFmpegError.throwIfError(await output.writeHeader(options), 'header')
  if (video) await writeTrack(output, opened[0]!, videoFrames(video))
  for (const [i, track] of audioTracks.entries()) {
    await writeTrack(output, track, audioFrames(sounds[i]!, track.codec))
  }
  FFmpegError.throwIfError(await output.writeTrailer(), 'trailer')
  await output.closeOutput()
}

interface Track {
  codec: CodecContext
  stream: Stream
}

async function openTrack(
  output: FormatContext,
  { encoder, options = {} }: { encoder: string; options?: Record<string, string> },
  set: (codec: CodecContext) => void,
): Promise<Track> {
  const codec = new CodecContext()
  codec.allocContext3(Codec.findEncoderByName(encoder as FFAudioEncoder))
  set(codec)
  if (output.oformat!.hasFlags(AVFMT_GLOBALHEADER)) codec.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER)
  FFmpegError.throwIfError(await codec.open2(null, Dictionary.fromObject(options)), encoder)
  const stream = output.newStream()
  stream.timeBase = codec.timeBase
  FFmpegError.throwIfError(stream.codecpar.fromContext(codec), 'parameters')
  return { codec, stream }
}

function setAudio(codec: CodecContext, { planes, sampleRate, encoder, bitRate }: AudioTrack): void {
  codec.sampleFormat = SAMPLE_FORMATS[encoder] ?? AV_SAMPLE_FMT_FLTP
  codec.sampleRate = sampleRate
  codec.channelLayout = avChannelLayoutDefault(planes.length)
  codec.timeBase = new Rational(1, sampleRate)
  codec.bitRate = BigInt(bitRate ?? 128_000)
}

const formatOf = ({ encoder, format }: VideoTrack): AVPixelFormat =>
  format ?? PIXEL_FORMATS[encoder] ?? AV_PIX_FMT_YUV420P

function setVideo(codec: CodecContext, video: VideoTrack): void {
  codec.width = video.width ?? WIDTH
  codec.height = video.height ?? HEIGHT
  codec.pixelFormat = formatOf(video)
  codec.timeBase = new Rational(1, video.framesPerSecond ?? FRAMES_PER_SECOND)
  codec.bitRate = 100_000n
  video.set?.(codec)
}

function* audioFrames(
  { planes, sampleRate, delay = 0, jumps = [] }: AudioTrack,
  codec: CodecContext,
): Generator<Frame> {
  const layout = codec.channelLayout
  const converter = new SoftwareResampleContext()
  converter.allocSetOpts2(
    layout,
    codec.sampleFormat,
    sampleRate,
    layout,
    AV_SAMPLE_FMT_FLT,
    sampleRate,
  )
  converter.init()
  const samples = planes[0]!.length
  const step = codec.frameSize || 1024
  for (let from = 0; from < samples; from += step) {
    const count = Math.min(step, samples - from)
    const packed = Float32Array.from(
      { length: count * planes.length },
      (_, i) => planes[i % planes.length]![from + Math.floor(i / planes.length)]!,
    )
    const source = Frame.fromAudioBuffer(Buffer.from(packed.buffer), {
      nbSamples: count,
      format: AV_SAMPLE_FMT_FLT,
      sampleRate,
      channelLayout: layout,
    })
    const frame = new Frame()
    frame.alloc()
    frame.format = codec.sampleFormat
    frame.sampleRate = sampleRate
    frame.channelLayout = layout
    FFmpegError.throwIfError(converter.convertFrame(frame, source), 'convert')
    source.free()
    const later = jumps.reduce(
      (sum, { afterSample, seconds }) => sum + (from >= afterSample ? seconds : 0),
      delay,
    )
    frame.pts = BigInt(Math.round(later * sampleRate) + from)
    yield frame
  }
  converter.free()
}

function* videoFrames(video: VideoTrack): Generator<Frame> {
  const { seconds, isCoverArt, delay = 0, jumps = [], flashes, width, height } = video
  const { framesPerSecond = FRAMES_PER_SECOND } = video
  const paint = video.paint ?? ((frame, number) => paintPattern(frame, number, flashes))
  const count = isCoverArt ? 1 : Math.round(seconds * framesPerSecond)
  for (let i = 0; i < count; i++) {
    const frame = new Frame()
    frame.alloc()
    frame.format = formatOf(video)
    frame.width = width ?? WIDTH
    frame.height = height ?? HEIGHT
    FFmpegError.throwIfError(frame.getBuffer(), 'picture')
    paint(frame, i)
    const later = jumps.reduce(
      (sum, { afterFrame, seconds }) => sum + (i >= afterFrame ? seconds : 0),
      delay,
    )
    frame.pts = BigInt(Math.round(later * framesPerSecond) + i)
    yield frame
  }
}

function paintPattern(frame: Frame, number: number, flashes: readonly number[] = []): void {
  const [brightness, ...colours] = frame.data!
  brightness!.forEach((_, at) => {
    brightness![at] = flashes.includes(number) ? 235 : (at * 3 + number * 8) % 128
  })
  for (const colour of colours) colour.fill(128)
}

async function writeTrack(
  output: FormatContext,
  { codec, stream }: Track,
  frames: Iterable<Frame>,
): Promise<void> {
  const packet = new Packet()
  packet.alloc()
  const writePackets = async () => {
    while ((await codec.receivePacket(packet)) >= 0) {
      packet.streamIndex = stream.index
      packet.rescaleTs(codec.timeBase, stream.timeBase)
      FFmpegError.throwIfError(await output.interleavedWriteFrame(packet), 'write')
    }
  }
  for (const frame of frames) {
    frame.timeBase = codec.timeBase
    FFmpegError.throwIfError(await codec.sendFrame(frame), 'encode')
    frame.free()
    await writePackets()
  }
  await codec.sendFrame(null)
  await writePackets()
  packet.free()
  codec.freeContext()
}
