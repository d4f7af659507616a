/**
 * Measures the length of a file's sound from its packets, without decoding. The duration that
 * containers state is often a guess: that of raw AAC is extrapolated from the bit rate at its
 * start, so a file that starts with silence seems ten times too long; a truncated file still states
 * its full length.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  AV_CODEC_ID_AAC,
  AV_CODEC_ID_AAC_LATM,
  AV_NOPTS_VALUE,
  AV_PKT_DATA_SKIP_SAMPLES,
  type AVCodecID,
} from 'node-av/constants'
import type { Packet, Stream } from 'node-av/lib'
import { ServiceError } from '../../../shared/errors.ts'
import type { Media } from './open-media.ts'
import { statedRate } from './frame-rate.ts'
import { openFollowing, openSound, type OpenSound } from './open-sound.ts'
import { SoundClock } from './sound-clock.ts'

const PACKETS_PER_TURN = 512
/** A packet of unknown length is assumed to last no longer than this. */
const UNSAID_SECONDS_MAX = 1

export interface MeasureOptions {
  /** Counting stops after this many seconds. */
  secondsMax: number
  /** As in `OpenOptions`. */
  track?: number | undefined
}

/**
 * Returns the length of an audio stream of a local file in seconds, as decoding will give it: to
 * the sample if the container has sample-accurate times, and within a few hundredths of a second
 * otherwise, however long it is. Damaged packets count as if they were intact. Null if packets have
 * no length.
 * @throws ServiceError INVALID_MEDIA, NO_AUDIO_STREAM
 */
export async function measureSound(path: string, options: MeasureOptions): Promise<number | null> {
  const sound = await openSound(path, options.track)
  try {
    return await secondsOf(sound, options.secondsMax)
  } finally {
    await sound.close()
  }
}

/**
 * Like `measureSound`, for an open file, which can be decoded afterwards if no packets are missing.
 */
export async function secondsOf(sound: OpenSound, secondsMax: number): Promise<number | null> {
  let seconds = await secondsOfPart(sound, secondsMax)
  for (const range of sound.following) {
    if (seconds > secondsMax) break
    const part = await openFollowing(sound, range)
    if (part instanceof ServiceError) continue
    try {
      seconds += await secondsOfPart(part, secondsMax - seconds)
    } finally {
      await part.close()
    }
  }
  return seconds > 0 ? seconds : null
}

async function secondsOfPart({ media, reader }: OpenSound, secondsMax: number): Promise<number> {
  const length = new SoundLength(media)
  for (let packets = 1; length.seconds <= secondsMax; packets++) {
    if (!reader.packets.readAhead((packet) => length.add(packet))) break
    if (packets % PACKETS_PER_TURN === 0) await nextTurn()
  }
  return length.seconds
}

/** In time units of the stream. */
interface CountedPacket {
  pts: number | null
  ticks: number
  /** Without what is skipped at its end. */
  tickCount: number
}

const AAC: readonly AVCodecID[] = [AV_CODEC_ID_AAC, AV_CODEC_ID_AAC_LATM]

class SoundLength {
  readonly #media: Media
  readonly #tickSeconds: number
  readonly #sampleRate: number
  /** Sum of all packets but the last. */
  #ticks = 0
  #last: CountedPacket | undefined
  readonly #clock = new SoundClock()
  readonly #isAac: boolean
  /** In hertz, as packets state it; of the first packet, and of the latest. */
  #firstRate: number | null = null
  #rate: number | null = null
  #skippedSeconds = 0
  /** Before the first packet, and in gaps. */
  #silentSeconds = 0

  constructor(media: Media) {
    this.#media = media
    this.#tickSeconds = tickSecondsOf(media.stream)
    this.#sampleRate = media.stream.codecpar.sampleRate
    this.#isAac = AAC.includes(media.stream.codecpar.codecId)
  }

  get seconds(): number {
    const ticks = this.#ticks + (this.#last?.tickCount ?? 0)
    return this.#silentSeconds + ticks * this.#tickSeconds - this.#skippedSeconds
  }

  add(packet: Packet): void {
    const isTimed = this.#media.hasTimes && packet.pts !== AV_NOPTS_VALUE
    const pts = isTimed ? Number(packet.pts) : null
    const ticks = this.#ticksOf(packet)
    const skip = packet.getSideData(AV_PKT_DATA_SKIP_SAMPLES)
    const skippedSeconds = (byte: number) => (skip ? skip.readUInt32LE(byte) : 0) / this.#sampleRate
    if (!this.#last) this.#silentSeconds = this.#silenceBefore(pts, skippedSeconds(0))
    const before = this.#last
    if (before) this.#count(this.#ticksUntil(pts, before))
    this.#silentSeconds += this.#clock.gapBefore(pts === null ? null : pts * this.#tickSeconds)
    this.#skippedSeconds += skippedSeconds(0)
    // Some containers subtract what is skipped from the duration of the last packet, and others do
    // not. So the last packet counts as long as the one before it, minus what is skipped.
    const whole = Math.max(ticks, before?.ticks ?? 0)
    const tickCount = Math.min(ticks, whole - skippedSeconds(4) / this.#tickSeconds)
    this.#last = { pts, ticks, tickCount }
  }

  /**
   * Returns the duration that the packet states or, if its rate differs from the first one, the
   * duration that this rate implies.
   */
  #ticksOf(packet: Packet): number {
    const rate = (this.#isAac ? statedRate(packet) : null) ?? this.#rate
    this.#firstRate ??= rate
    this.#rate = rate
    const slower = rate && this.#firstRate ? this.#firstRate / rate : 1
    return Number(packet.duration) * slower
  }

  #count(ticks: number): void {
    this.#ticks += ticks
    this.#clock.advance(ticks * this.#tickSeconds)
  }

  /**
   * Returns the ticks from one packet to the next: by their times if these match the duration of
   * the first one, which a container with coarse time units rounds down; by that duration at a gap
   * or a step backwards.
   */
  #ticksUntil(pts: number | null, { pts: since, ticks, tickCount }: CountedPacket): number {
    if (pts === null || since === null) return tickCount
    const apart = pts - since
    const most = ticks > 0 ? ticks + 1 : UNSAID_SECONDS_MAX / this.#tickSeconds
    return apart >= ticks && apart <= most ? apart : tickCount
  }

  /** In a video, sound that starts later than the media is preceded by silence. */
  #silenceBefore(pts: number | null, skippedSeconds: number): number {
    const { video, startSeconds } = this.#media
    if (!video || pts === null) return 0
    return Math.max(0, pts * this.#tickSeconds + skippedSeconds - startSeconds)
  }
}

const tickSecondsOf = ({ timeBase: { num, den } }: Stream): number => num / den
