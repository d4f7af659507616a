/** Measures how loud a sound is while it is written, so that players need not decode all of it. */

/** Length of the blocks for loudness, 0.4 s as in ITU-R BS.1770. */
const BLOCK_SECONDS = 0.4
/** Blocks quieter than this power (-70 dB) do not count, as in BS.1770. */
const GATE_POWER = 1e-7

export interface Level {
  /** The largest absolute sample value; full scale is 1. */
  peak: number
  /**
   * The root mean square over the blocks that contain sound, 0 if there are none. This is the
   * gating of ITU-R BS.1770 without its frequency weighting.
   */
  loudness: number
}

export class LevelMeter {
  readonly #blockSamples: number
  #peak = 0
  /** The current block: how many samples it has, and the sum of their squares over all channels. */
  #fill = 0
  #power = 0
  #loudBlocks = 0
  #loudPower = 0

  /** @param sampleRate in hertz */
  constructor(sampleRate: number) {
    this.#blockSamples = Math.max(1, Math.round(BLOCK_SECONDS * sampleRate))
  }

  add(planes: readonly Float32Array[]): void {
    const { length } = planes[0]!
    for (let from = 0; from < length;) {
      const to = Math.min(length, from + this.#blockSamples - this.#fill)
      for (const plane of planes) this.#addPart(plane, from, to)
      this.#fill += to - from
      from = to
      if (this.#fill === this.#blockSamples) this.#endBlock(planes.length)
    }
  }

  /** Returns the level of everything that was added before the current block. */
  get level(): Level {
    const loudness = this.#loudBlocks === 0 ? 0 : Math.sqrt(this.#loudPower / this.#loudBlocks)
    return { peak: this.#peak, loudness }
  }

  /** @param channels how many channels all samples have */
  finish(channels: number): Level {
    if (this.#fill > 0) this.#endBlock(channels)
    return this.level
  }

  #addPart(plane: Float32Array, from: number, to: number): void {
    let [power, peak] = [0, this.#peak]
    for (let i = from; i < to; i += 1) {
      const sample = plane[i]!
      power += sample * sample
      const size = Math.abs(sample)
      if (size > peak && size < Infinity) peak = size
    }
    this.#peak = peak
    this.#power += power
  }

  #endBlock(channels: number): void {
    const power = this.#power / this.#fill / channels
    if (power > GATE_POWER && power < Infinity) {
      this.#loudBlocks += 1
      this.#loudPower += power
    }
    this.#fill = 0
    this.#power = 0
  }
}
