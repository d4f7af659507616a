/** Plays lanes on one clock, that of an AudioContext, so that they never drift apart. */

import { computed, effect, signal, type Signal } from '@preact/signals'
import { fromDb, loudnessOf } from './levels.ts'
import { sum } from './decode.ts'
import type { Finding } from '../state/chip.ts'
import type { OutputPlace } from '../state/draft.ts'

export type LaneKind = 'mixture' | 'target' | 'residual'

export interface Lane {
  kind: LaneKind
  label: string
  buffer: AudioBuffer
  /** The service's file, where there is one. */
  output: Output | null
  /** A target's, if its model reports one. */
  finding?: Finding | undefined
  gainDb: Signal<number>
  isMuted: Signal<boolean>
  isSolo: Signal<boolean>
}

/** An output of a request, as the service keeps it. */
export interface Output {
  url: string
  name: string
  /** Its name in a submission. */
  place: OutputPlace
}

/** Then a browser found no device for sound: Firefox waits for one for ever. */
const START_MS_MAX = 2_000

/** Gains change over so long, without a click. */
const RAMP_SECONDS = 0.005

/** Length of a loop that begins at the position. */
const LOOP_SECONDS = 2
/** Shorter loops would be a tone. */
export const LOOP_SECONDS_MIN = 0.05

export interface Section {
  start: number
  end: number
}

export class Mixer {
  readonly lanes: readonly Lane[]
  readonly seconds: number
  readonly isPlaying = signal(false)
  /** The browser could not start to play. */
  readonly isSoundless = signal(false)
  /** Seconds from the start. */
  readonly position = signal(0)
  /** The looped section; null: all of it plays, once. */
  readonly loop = signal<Section | null>(null)
  /** Amplitude of all that is heard, from 0 to 1; what is saved does not follow it. */
  readonly volume = signal(1)
  /** Amplitude of what is not solo, from 0 to 1: so much of it is mixed back. */
  readonly mixedBack = signal(0)
  /** One lane against another, at equal loudness; null: the mix. */
  readonly compared = signal<{ a: Lane; b: Lane; isB: boolean } | null>(null)
  readonly #context: AudioContext
  readonly #gains: GainNode[]
  readonly #stopEffects: readonly (() => void)[]
  #players: AudioBufferSourceNode[] = []
  /** The context's time at which position 0 would have been played. */
  #origin = 0
  #frame = 0

  /** The gain of each lane, as solo, mute, gain and comparison make it. */
  readonly levels = computed(() => this.lanes.map((lane) => this.#levelOf(lane)))

  constructor(lanes: readonly Lane[]) {
    this.lanes = lanes
    this.seconds = Math.max(...lanes.map(({ buffer }) => buffer.duration))
    // At the rate of the lanes: else the browser resamples them.
    this.#context = new AudioContext({ sampleRate: lanes[0]!.buffer.sampleRate })
    this.#gains = lanes.map(() => new GainNode(this.#context, { gain: 0 }))
    const master = new GainNode(this.#context)
    master.connect(this.#context.destination)
    for (const gain of this.#gains) gain.connect(master)
    this.#stopEffects = [
      effect(() => {
        for (const [i, level] of this.levels.value.entries()) this.#ramp(this.#gains[i]!, level)
      }),
      effect(() => this.#ramp(master, this.volume.value)),
    ]
  }

  #ramp({ gain }: GainNode, level: number): void {
    gain.setTargetAtTime(level, this.#context.currentTime, RAMP_SECONDS / 3)
  }

  #levelOf(lane: Lane): number {
    const compared = this.compared.value
    if (compared) {
      const { a, b, isB } = compared
      return lane === (isB ? b : a) ? equalGain(lane, a, b) : 0
    }
    const hasSolo = this.lanes.some(({ isSolo }) => isSolo.value)
    const part = hasSolo && !lane.isSolo.value ? this.#partMixedBack(lane) : 1
    const isMuted = lane.isMuted.value && !(hasSolo && lane.isSolo.value)
    return isMuted ? 0 : part * fromDb(lane.gainDb.value)
  }

  /** The mixture has all of it already. */
  #partMixedBack({ kind }: Lane): number {
    const hasMixture = this.lanes.some((lane) => lane.kind === 'mixture' && lane.isSolo.value)
    return kind === 'mixture' || hasMixture ? 0 : this.mixedBack.value
  }

  /** An output with so much of the others as is mixed back. */
  renderMixedBack({ url }: Output): Promise<AudioBuffer> {
    const outputs = this.lanes.filter(({ output }) => output !== null)
    return sum(
      outputs.map(({ buffer, output }) => ({
        buffer,
        gain: output?.url === url ? 1 : this.mixedBack.value,
      })),
    )
  }

  async toggle(): Promise<void> {
    if (this.isPlaying.value) this.pause()
    else await this.play()
  }

  async play(): Promise<void> {
    const late = new Promise((resolve) => setTimeout(resolve, START_MS_MAX))
    await Promise.race([this.#context.resume(), late])
    this.isSoundless.value = this.#context.state !== 'running'
    if (this.isSoundless.value) return
    const atEnd = this.position.value >= this.seconds - 0.01
    this.#start(atEnd ? 0 : this.position.value)
  }

  #start(position: number): void {
    this.#stopPlayers()
    const at = this.#context.currentTime + 0.02
    const loop = this.loop.value
    this.#players = this.lanes.map(({ buffer }, i) => {
      const player = new AudioBufferSourceNode(this.#context, { buffer })
      if (loop) Object.assign(player, { loop: true, loopStart: loop.start, loopEnd: loop.end })
      player.connect(this.#gains[i]!)
      player.start(at, position)
      return player
    })
    this.#origin = at - position
    this.position.value = position
    this.isPlaying.value = true
    cancelAnimationFrame(this.#frame)
    this.#frame = requestAnimationFrame(this.#follow)
  }

  readonly #follow = (): void => {
    let position = Math.max(0, this.#context.currentTime - this.#origin)
    const loop = this.loop.value
    if (loop && position >= loop.end) {
      position = loop.start + ((position - loop.start) % (loop.end - loop.start))
    }
    if (position >= this.seconds) {
      this.pause()
      this.position.value = this.seconds
      return
    }
    this.position.value = position
    this.#frame = requestAnimationFrame(this.#follow)
  }

  pause(): void {
    cancelAnimationFrame(this.#frame)
    this.#stopPlayers()
    this.isPlaying.value = false
  }

  /** @param seconds clipped to the length */
  seek(seconds: number): void {
    const position = Math.min(this.seconds, Math.max(0, seconds))
    if (this.isPlaying.value) this.#start(position)
    else this.position.value = position
  }

  /** Plays this section again and again; null: no more. */
  setLoop(section: Section | null): void {
    this.loop.value = section
    if (this.isPlaying.value) this.#start(section?.start ?? this.position.value)
    else if (section) this.position.value = section.start
  }

  /** Moves one end of the loop to the position; without a loop, its other end is the media's. */
  setLoopEnd(end: 'start' | 'end'): void {
    const loop = { ...(this.loop.value ?? { start: 0, end: this.seconds }) }
    loop[end] = this.position.value
    if (loop.end - loop.start >= LOOP_SECONDS_MIN) this.setLoop(loop)
  }

  /** Plays two seconds from here on again and again, or no more. */
  toggleLoop(): void {
    if (this.loop.value) return this.setLoop(null)
    const start = Math.min(this.position.value, Math.max(0, this.seconds - LOOP_SECONDS))
    this.setLoop({ start, end: Math.min(this.seconds, start + LOOP_SECONDS) })
  }

  /** A is the mixture; B is the target that is solo, or the first. */
  readonly pair = computed(() => {
    if (this.compared.value) return this.compared.value
    const targets = this.lanes.filter(({ kind }) => kind === 'target')
    const b = targets.find(({ isSolo }) => isSolo.value) ?? targets[0]!
    return { a: this.lanes[0]!, b }
  })

  /** Plays A or B of the pair; null: the mix. */
  compare(side: 'a' | 'b' | null): void {
    const { a, b } = this.pair.value
    this.compared.value = side === null ? null : { a, b, isB: side === 'b' }
  }

  /** In turn: A, B and the mix again. */
  toggleComparison(): void {
    const current = this.compared.value
    if (!current) this.compare('a')
    else this.compare(current.isB ? null : 'b')
  }

  /** The mix as it sounds now. */
  render(): Promise<AudioBuffer> {
    const levels = this.levels.value
    return sum(this.lanes.map(({ buffer }, i) => ({ buffer, gain: levels[i]! })))
  }

  close(): void {
    this.pause()
    for (const stop of this.#stopEffects) stop()
    void this.#context.close()
  }

  #stopPlayers(): void {
    for (const player of this.#players) {
      player.stop()
      player.disconnect()
    }
    this.#players = []
  }
}

const loudness = new WeakMap<AudioBuffer, number>()

function loudnessOnce(buffer: AudioBuffer): number {
  const known = loudness.get(buffer) ?? loudnessOf(buffer)
  loudness.set(buffer, known)
  return known
}

/** Turns the louder of both down to the other: turned up, the other could clip. */
function equalGain(lane: Lane, a: Lane, b: Lane): number {
  const [own, ...both] = [lane, a, b].map(({ buffer }) => loudnessOnce(buffer))
  const quieter = Math.min(...both)
  return quieter > 0 && own! > 0 ? quieter / own! : 1
}
