/** Resamples a stream of samples with FFmpeg's resampler. */

import type { ChannelLayout } from 'node-av/lib'
import { BlockMaker } from './block-maker.ts'
import { layoutOfMask } from './channel-layout.ts'
import { frameOf } from './planar-frame.ts'

const BLOCK_SAMPLES = 2 ** 14

/**
 * With this many taps, a round trip changes frequencies below nine tenths of the band by -90 dB;
 * with 32, by -41 dB.
 */
const FILTER_TAPS = 128

export interface ResamplerOptions {
  /** In hertz. */
  from: number
  to: number
  channels: number
}

/**
 * Sample 0 stays in place, and `n` samples become about `n · to / from`. The output contains
 * nothing above the band of the lower rate.
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

  /** Takes planar samples; returns the blocks that are complete, in order. */
  add(block: readonly Float32Array[]): Float32Array[][] {
    if ((block[0]?.length ?? 0) === 0) return []
    const frame = frameOf(block, { sampleRate: this.#from, layout: this.#layout })
    this.#maker.add(frame)
    frame.free()
    return this.#maker.take()
  }

  /** Returns the rest. */
  finish(): Float32Array[][] {
    this.#maker.finish()
    return this.#maker.take()
  }

  close(): void {
    this.#maker.close()
  }
}
