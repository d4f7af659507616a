/**
 * Makes the timestamps of a file continuous if its clock jumps or restarts, for example where
 * recordings of broadcasts were concatenated. Sound and picture are read in separate processes;
 * because both follow the same packets by the same rules, they stay in sync.
 */

import { AV_NOPTS_VALUE } from 'node-av/constants'
import type { Packet, Stream } from 'node-av/lib'

/**
 * In seconds. A time that neither sound nor picture fills is a pause up to this length, and a jump
 * beyond it.
 */
const PAUSE_SECONDS_MAX = 10

/**
 * In seconds. Going back further than this is a jump; less may be pictures out of order, or
 * overlapping sound.
 */
const BACK_SECONDS_MAX = 2

/** How many jumps are listed individually. */
const LISTED_MAX = 8

/** The time between two jumps. All values are in seconds. */
interface Stretch {
  /** What to add to the file's time to get the time since its start. */
  shift: number
  /** On the file's clock. */
  first: number
  last: number
}

/** The position of a stream in time, in seconds. */
interface Track {
  stream: Stream
  tickSeconds: number
  stretch: Stretch
  /** Its end so far, shifted; null before its first packet. */
  end: number | null
  /**
   * For a picture: the start of the previous packet, the latest start of all, and the smallest gap.
   */
  before: number
  latest: number
  step: number
}

export class MediaClock {
  readonly #sound: Stream
  readonly #isMpeg: boolean
  readonly #tracks: ReadonlyMap<number, Track>
  readonly #beginning: Stretch = { shift: 0, first: Infinity, last: -Infinity }
  #newest = this.#beginning
  #jumps = 0
  readonly #listed: string[] = []

  constructor(container: string, sound: Stream, video: Stream | null) {
    this.#sound = sound
    this.#isMpeg = container.startsWith('mpeg')
    const streams = video ? [sound, video] : [sound]
    this.#tracks = new Map(streams.map((stream) => [stream.index, this.#trackOf(stream)]))
  }

  #trackOf(stream: Stream): Track {
    const { num, den } = stream.timeBase
    const begun = { stretch: this.#newest, end: null, before: 0, latest: -Infinity, step: 1 }
    return { stream, tickSeconds: num / den, ...begun }
  }

  /** Sentences for the log. */
  get remarks(): string[] {
    if (this.#jumps === 0) return []
    const more = this.#jumps > LISTED_MAX ? ` and ${this.#jumps - LISTED_MAX} times more` : ''
    return [
      `The clock of the source jumps or restarts at ${this.#listed.join(', ')} s${more}: ` +
        'the parts are joined without the time between them.',
    ]
  }

  /**
   * Corrects the times of a packet. All packets of both streams must come here, in the order of the
   * file.
   */
  place(packet: Packet): void {
    const track = this.#tracks.get(packet.streamIndex)
    if (!track) return
    const time = this.#timeOf(packet)
    const seconds = Number(packet.duration) * track.tickSeconds
    if (time === null) {
      if (track.end !== null) track.end += seconds
    } else {
      this.#settle(track, time * track.tickSeconds)
      this.#follow(track, time * track.tickSeconds, seconds)
    }
    const ticks = BigInt(Math.round(track.stretch.shift / track.tickSeconds))
    if (packet.pts !== AV_NOPTS_VALUE) packet.pts += ticks
    if (packet.dts !== AV_NOPTS_VALUE) packet.dts += ticks
  }

  /** In time units of the stream; null if the packet does not say. */
  #timeOf(packet: Packet): number | null {
    const isSound = packet.streamIndex === this.#sound.index
    // MPEG states one time for several frames of sound. FFmpeg derives the others, which have no
    // position in the file, from the initial rate, which may have changed since.
    if (isSound && this.#isMpeg && packet.pos < 0n) packet.pts = AV_NOPTS_VALUE
    const { pts, dts } = packet
    if (pts !== AV_NOPTS_VALUE) return Number(pts)
    return dts === AV_NOPTS_VALUE || isSound ? null : Number(dts)
  }

  /** Finds the stretch that the packet belongs to. */
  #settle(track: Track, time: number): void {
    if (track.end === null) {
      track.stretch = this.#newest
      return
    }
    const late = time + track.stretch.shift - track.end
    const lateInNewest = time + this.#newest.shift - track.end
    const mayJoin = track.stretch !== this.#newest && this.#isNear(time)
    if (mayJoin && Math.abs(lateInNewest) < Math.abs(late)) {
      track.stretch = this.#newest
      // The other stream jumped first, and was assumed to end where this one does.
      if (lateInNewest < 0) this.#newest.shift -= lateInNewest
      return
    }
    const ahead = time + track.stretch.shift - this.#front
    if (ahead > PAUSE_SECONDS_MAX || late < -BACK_SECONDS_MAX) this.#jump(track, time, track.end)
  }

  #isNear(time: number): boolean {
    const { first, last } = this.#newest
    return time > first - PAUSE_SECONDS_MAX && time < last + PAUSE_SECONDS_MAX
  }

  /** The later end of the two streams, shifted. */
  get #front(): number {
    return Math.max(...[...this.#tracks.values()].map(({ end }) => end ?? -Infinity))
  }

  #jump(track: Track, time: number, end: number): void {
    track.stretch = this.#newest = { shift: end - time, first: time, last: time }
    if (++this.#jumps <= LISTED_MAX) this.#listed.push((end - this.#beginning.first).toFixed(2))
  }

  #follow(track: Track, time: number, seconds: number): void {
    const { stretch, end } = track
    stretch.first = Math.min(stretch.first, time)
    stretch.last = Math.max(stretch.last, time)
    const start = time + stretch.shift
    if (track.stream === this.#sound) {
      track.end = start + seconds
      return
    }
    // The stated duration of a picture depends on how the file is read, so the step comes from the
    // starts.
    const apart = Math.abs(start - track.before)
    if (end !== null && apart > 0) track.step = Math.min(track.step, apart)
    track.before = start
    track.latest = Math.max(track.latest, start)
    track.end = track.latest + (end === null ? 0 : track.step)
  }
}
