/** Streams of samples at another rate, by FFmpeg's resampler. */

import type { ChannelLayout } from 'node-av/lib'
import { BlockMaker } from './block-maker.ts'
import { layoutOfMask } from './channel-layout.ts'
import { frameOf } from './planar-frame.ts'

const BLOCK_SAMPLES = 2 ** 14

/** So a round trip changes what is below nine tenths of the band by -90 dB: with 32, -41 dB. */
const FILTER_TAPS = 128

export interface ResamplerOptions {
  /** Hertz. */
  from: number
  to: number
  channels: number
}

/**
 * Sample 0 stays where it is, and of `n` samples become about `n · to / from`. Nothing above the
 * lower rate's band is in what comes out.
 */
export class Resampler {
  readonly #from: number
  readonly #layout: ChannelLayout
  readonly #maker: BlockMaker

  constructor({ from, to, channels }: ResamplerOptions) {
    this.#from = from
    this.#layout = layoutOfMask(0n, channels)
    this.#maker = new BlockMaker(this.#layout, {
      sampleRate: to,
      channelsMax: channels,
      blockSamples: BLOCK_SAMPLES,
      filterTaps: FILTER_TAPS,
    })
  }

  /** Takes planar samples; returns blocks of those that are ready, in order. */
  add(block: readonly Float32Array[]): Float32Array[][] {
    if ((block[0]?.length ?? 0) === 0) return []
    const frame = frameOf(block, { sampleRate: this.#from, layout: this.#layout })
    this.#maker.add(frame)
    frame.free()
    return this.#maker.take()
  }

  /** The rest. */
  finish(): Float32Array[][] {
    this.#maker.finish()
    return this.#maker.take()
  }

  close(): void {
    this.#maker.close()
  }
}
