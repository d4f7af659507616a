/** Plays lanes on the clock of one AudioContext, so that they stay in sync. */

import { computed, effect, signal } from '@preact/signals'
import { sum } from './decode.ts'
import { fromDb } from './levels.ts'
import type { Lane, Output } from './lane.ts'
import type { Sounds } from './sounds.ts'

/** Without an audio device, Firefox would wait for one forever. */
const START_MS_MAX = 2_000

/** Gains change gradually over this time to avoid clicks. */
const RAMP_SECONDS = 0.005

/** Length of a loop that starts at the position. */
const LOOP_SECONDS = 2
/** Samples in a reading of a meter, some 40 ms. */
const METER_SAMPLES = 2_048

/** Shorter loops would sound like a tone. */
export const LOOP_SECONDS_MIN = 0.05

export interface Section {
  start: number
  end: number
}

/** How far ahead sound is handed to the browser. */
const AHEAD_SECONDS = 3
const PUMP_MS = 250
/** From the decision to play to the first sample. */
const LATENCY_SECONDS = 0.02

/** A part of one segment that is played without interruption. */
interface Piece {
  /** Index of the segment. */
  k: number
  /** In seconds of the media. */
  from: number
  to: number
}

export class Mixer {
  readonly lanes: readonly Lane[]
  readonly sounds: Sounds
  readonly seconds: number
  readonly isPlaying = signal(false)
  /** Whether playback waits for sound to arrive. */
  readonly isWaiting = signal(false)
  /** Why sound could not be loaded. */
  readonly problem = signal('')
  /** Whether the browser could not start to play. */
  readonly isSoundless = signal(false)
  /** In seconds from the start. */
  readonly position = signal(0)
  /** The section that is looped; null to play everything once. */
  readonly loop = signal<Section | null>(null)
  /** Amplitude from 0 to 1 of playback; saved files keep their level. */
  readonly volume = signal(1)
  /** Amplitude from 0 to 1 of the lanes that are not solo. */
  readonly mixedBack = signal(0)
  /** Two lanes that are compared at equal loudness; null to play the mix. */
  readonly compared = signal<{ a: Lane; b: Lane; isB: boolean } | null>(null)
  readonly #context: AudioContext
  readonly #gains: GainNode[]
  /** One for each lane, after its gain. */
  readonly #meters: AnalyserNode[]
  readonly #stopEffects: readonly (() => void)[]
  readonly #lossless: (() => Promise<readonly AudioBuffer[]>) | null
  readonly #players = new Set<AudioBufferSourceNode>()
  readonly #metered = new Float32Array(METER_SAMPLES)
  /** Pieces handed to the browser, with their start on the clock of the context. */
  #scheduled: (Piece & { at: number })[] = []
  /** The current run of the pump; an earlier run ends when this has changed. */
  #run = 0
  #frame = 0

  /** The gain of each lane, as determined by solo, mute, gain and comparison. */
  readonly levels = computed(() => this.lanes.map((lane) => this.#levelOf(lane)))

  /**
   * @param lossless returns all lanes as stored by the service, at the level of the outputs; null
   *   if they would not fit into memory
   */
  constructor(
    lanes: readonly Lane[],
    sounds: Sounds,
    lossless: (() => Promise<readonly AudioBuffer[]>) | null,
  ) {
    this.lanes = lanes
    this.sounds = sounds
    this.seconds = sounds.seconds
    this.#lossless = lossless
    // At the sample rate of the lanes; otherwise the browser would resample them.
    this.#context = new AudioContext({ sampleRate: sounds.sampleRate })
    this.#gains = lanes.map(() => new GainNode(this.#context, { gain: 0 }))
    const master = new GainNode(this.#context)
    master.connect(this.#context.destination)
    for (const gain of this.#gains) gain.connect(master)
    this.#meters = this.#gains.map((gain) => {
      const meter = new AnalyserNode(this.#context, { fftSize: METER_SAMPLES })
      gain.connect(meter)
      return meter
    })
    this.#stopEffects = [
      effect(() => {
        for (const [i, level] of this.levels.value.entries()) this.#ramp(this.#gains[i]!, level)
      }),
      effect(() => this.#ramp(master, sounds.gain * this.volume.value)),
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

  /** Nothing is mixed back into the mixture, which already contains everything. */
  #partMixedBack({ kind }: Lane): number {
    const hasMixture = this.lanes.some((lane) => lane.kind === 'mixture' && lane.isSolo.value)
    return kind === 'mixture' || hasMixture ? 0 : this.mixedBack.value
  }

  /** Whether files can be made from the lanes. */
  get isRenderable(): boolean {
    return this.#lossless !== null
  }

  /**
   * Renders an output with the others mixed back in.
   * @param part their amplitude, from 0 to 1
   */
  renderMixedBack({ place }: Output, part: number): Promise<AudioBuffer> {
    const isPlace = ({ output, output_index: i }: Output['place']) =>
      output === place.output && i === place.output_index
    return this.#render(({ output }) => (output === null ? null : isPlace(output.place) ? 1 : part))
  }

  async #render(gainOf: (lane: Lane, i: number) => number | null): Promise<AudioBuffer> {
    const buffers = await this.#lossless!()
    return sum(
      this.lanes.flatMap((lane, i) => {
        const gain = gainOf(lane, i)
        return gain === null ? [] : [{ buffer: buffers[i]!, gain }]
      }),
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
    this.#scheduled = []
    this.position.value = position
    const isAtEnd = position > this.seconds - 1 / this.sounds.sampleRate
    if (isAtEnd && !this.loop.value) return this.pause()
    this.isPlaying.value = true
    this.problem.value = ''
    cancelAnimationFrame(this.#frame)
    this.#frame = requestAnimationFrame(this.#follow)
    this.#run += 1
    this.#pump(position, this.#run).catch((error: Error) => {
      this.problem.value = `The sound could not be loaded: ${error.message}`
      this.pause()
    })
  }

  /**
   * Hands pieces to the browser, each starting where the previous one ends, or later if it arrives
   * late.
   */
  async #pump(position: number, run: number): Promise<void> {
    let at = 0
    for (const piece of this.#piecesFrom(position)) {
      const loading = this.sounds.segment(piece.k)
      const isLate = setTimeout(() => (this.isWaiting.value = run === this.#run), PUMP_MS)
      const buffers = await loading.finally(() => clearTimeout(isLate))
      if (run !== this.#run) return
      this.isWaiting.value = false
      at = Math.max(at, this.#context.currentTime + LATENCY_SECONDS)
      // On a whole sample; otherwise the browser would interpolate, and segments would not join.
      at = Math.ceil(at * this.sounds.sampleRate - 0.01) / this.sounds.sampleRate
      this.#schedule(piece, buffers, at)
      at += piece.to - piece.from
      const next = (piece.k + 1) * this.sounds.segmentSeconds
      if (next < this.seconds) this.sounds.segment(piece.k + 1).catch(() => undefined)
      while (at - this.#context.currentTime > AHEAD_SECONDS) {
        await new Promise((resolve) => setTimeout(resolve, PUMP_MS))
        if (run !== this.#run) return
      }
    }
  }

  /** Yields pieces from a position to the end, or through the loop forever, in whole samples. */
  *#piecesFrom(position: number): Generator<Piece> {
    const { segmentSeconds, sampleRate } = this.sounds
    const onSample = (seconds: number) => Math.round(seconds * sampleRate) / sampleRate
    const loop = this.loop.value
    const end = onSample(loop?.end ?? this.seconds)
    const isPastLoop = loop !== null && position >= loop.end
    for (let from = onSample(isPastLoop ? loop.start : position); from < end;) {
      const k = Math.floor(from / segmentSeconds + 1e-9)
      const to = Math.min(end, onSample((k + 1) * segmentSeconds))
      yield { k, from, to }
      from = loop && to === end ? onSample(loop.start) : to
    }
  }

  #schedule(piece: Piece, buffers: readonly AudioBuffer[], at: number): void {
    const offset = piece.from - piece.k * this.sounds.segmentSeconds
    for (const [i, buffer] of buffers.entries()) {
      const player = new AudioBufferSourceNode(this.#context, { buffer })
      player.connect(this.#gains[i]!)
      player.onended = () => {
        player.disconnect()
        this.#players.delete(player)
      }
      player.start(at, Math.max(0, offset), piece.to - piece.from)
      this.#players.add(player)
    }
    const now = this.#context.currentTime
    const current = this.#scheduled.filter(({ at, from, to }) => at + to - from > now)
    this.#scheduled = [...current, { ...piece, at }]
  }

  readonly #follow = (): void => {
    const now = this.#context.currentTime
    const piece = this.#scheduled.findLast(({ at }) => at <= now)
    if (piece) {
      const position = Math.min(piece.to, piece.from + now - piece.at)
      if (position >= this.seconds - 1e-6 && !this.loop.value) {
        this.pause()
        this.position.value = this.seconds
        return
      }
      this.position.value = position
    }
    this.#frame = requestAnimationFrame(this.#follow)
  }

  pause(): void {
    cancelAnimationFrame(this.#frame)
    this.#run += 1
    this.#stopPlayers()
    this.isPlaying.value = false
    this.isWaiting.value = false
  }

  /** @param seconds clipped to the length of the media */
  seek(seconds: number): void {
    const position = Math.min(this.seconds, Math.max(0, seconds))
    if (this.isPlaying.value) this.#start(position)
    else this.position.value = position
  }

  /** Repeats this section; null ends the loop. */
  setLoop(section: Section | null): void {
    this.loop.value = section
    if (this.isPlaying.value) this.#start(section?.start ?? this.position.value)
    else if (section) this.position.value = section.start
  }

  /**
   * Moves one end of the loop to the position. Without a loop, the other end is that of the media.
   */
  moveLoopEdge(end: 'start' | 'end'): void {
    const loop = { ...(this.loop.value ?? { start: 0, end: this.seconds }) }
    loop[end] = this.position.value
    if (loop.end - loop.start >= LOOP_SECONDS_MIN) this.setLoop(loop)
  }

  /** Starts a loop of two seconds at the position, or ends the loop. */
  toggleLoop(): void {
    if (this.loop.value) return this.setLoop(null)
    const start = Math.min(this.position.value, Math.max(0, this.seconds - LOOP_SECONDS))
    this.setLoop({ start, end: Math.min(this.seconds, start + LOOP_SECONDS) })
  }

  /** Returns the current peak of a lane, as it is heard. */
  peakOf(lane: Lane): number {
    this.#meters[this.lanes.indexOf(lane)]!.getFloatTimeDomainData(this.#metered)
    return this.#metered.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0)
  }

  /** Plays one lane alone. Ends a comparison. */
  solo(lane: Lane): void {
    for (const other of this.lanes) other.isSolo.value = other === lane
    this.compared.value = null
  }

  /** Adds a lane to those that are solo, or removes it. Ends a comparison. */
  toggleSolo(lane: Lane): void {
    lane.isSolo.value = !lane.isSolo.value
    this.compared.value = null
  }

  /** Mutes or unmutes a lane. Ends a comparison. */
  toggleMute(lane: Lane): void {
    lane.isMuted.value = !lane.isMuted.value
    this.compared.value = null
  }

  /** A is the mixture; B is the target that is solo, or the first target. */
  readonly pair = computed(() => {
    if (this.compared.value) return this.compared.value
    const targets = this.lanes.filter(({ kind }) => kind === 'target')
    const b = targets.find(({ isSolo }) => isSolo.value) ?? targets[0]!
    return { a: this.lanes[0]!, b }
  })

  /** Plays A or B of the pair; null plays the mix. */
  compare(side: 'a' | 'b' | null): void {
    const { a, b } = this.pair.value
    this.compared.value = side === null ? null : { a, b, isB: side === 'b' }
  }

  /** Switches from the mix to A, to B, and back to the mix. */
  toggleComparison(): void {
    const current = this.compared.value
    if (!current) this.compare('a')
    else this.compare(current.isB ? null : 'b')
  }

  /** Renders the mix as it sounds now. */
  render(): Promise<AudioBuffer> {
    const levels = this.levels.value
    return this.#render((_, i) => levels[i]!)
  }

  close(): void {
    this.pause()
    for (const stop of this.#stopEffects) stop()
    void this.#context.close()
  }

  #stopPlayers(): void {
    for (const player of this.#players) {
      player.onended = null
      player.stop()
      player.disconnect()
    }
    this.#players.clear()
  }
}

/** Attenuates the louder of the two to match the other, which could clip if it were amplified. */
function equalGain(lane: Lane, a: Lane, b: Lane): number {
  const { loudness } = lane.sound.value
  const quieter = Math.min(a.sound.value.loudness, b.sound.value.loudness)
  return quieter > 0 && loudness > 0 ? quieter / loudness : 1
}
