/** Records a page's sound at its way to the loudspeakers. */

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

const BLOCK_SAMPLES = 2_048
const TURNS_MAX = 100
/** A block may start between two samples, which the browser interpolates. */
const CORRELATION_MIN = 0.95

interface Heard {
  heardBlocks: number[][]
}

/** Listens to the first channel of every AudioContext that the page opens from now on. */
export const listen = (page: Page): Promise<void> =>
  page.evaluate((samples) => {
    const heardBlocks: number[][] = []
    const ears = new WeakMap<BaseAudioContext, ScriptProcessorNode>()
    const { connect } = AudioNode.prototype as { connect: (to: AudioNode) => AudioNode }
    Object.assign(globalThis, { heardBlocks } satisfies Heard)
    Object.assign(AudioNode.prototype, {
      connect(this: AudioNode, to: AudioNode): AudioNode {
        const { context } = this
        if (to instanceof AudioDestinationNode && context instanceof AudioContext) {
          const ear = ears.get(context) ?? context.createScriptProcessor(samples, 2, 2)
          ears.set(context, ear)
          ear.onaudioprocess = ({ inputBuffer }) =>
            heardBlocks.push([...inputBuffer.getChannelData(0)])
          connect.call(this, ear)
          connect.call(ear, to) // it gives silence; again it changes nothing
        }
        return connect.call(this, to)
      },
    })
  }, BLOCK_SAMPLES)

interface Section {
  /** Samples. */
  start: number
  end: number
  gain: number
}

/** Waits until three blocks of what is played from now on are of a section of `signal`. */
export async function assertHeard(
  page: Page,
  signal: Float32Array,
  { start, end, gain }: Section,
): Promise<void> {
  const take = () =>
    page.evaluate(() => (globalThis as unknown as Heard).heardBlocks.splice(0).slice(-3))
  await take()
  const fits: string[] = []
  let right = 0
  for (let turn = 0; right < 3; turn += 1) {
    assert.ok(turn < TURNS_MAX, `it is not heard; the last blocks: ${fits.slice(-6).join(', ')}`)
    await page.waitForTimeout(100)
    for (const block of await take()) {
      const fit = bestFit(block, signal.subarray(start, end))
      if (fit.correlation > CORRELATION_MIN && Math.abs(fit.gain / gain - 1) < 0.05) right += 1
      fits.push(`${fit.correlation.toFixed(3)} at gain ${fit.gain.toFixed(3)}`)
    }
  }
}

/** The part of the signal that a block is most like, and how loud it is there. */
function bestFit(block: readonly number[], signal: Float32Array) {
  const own = block.reduce((sum, x) => sum + x * x, 0)
  let best = { correlation: 0, gain: 0 }
  for (let from = 0; from + block.length <= signal.length; from += 1) {
    let [product, power] = [0, 0]
    for (let i = 0; i < block.length; i += 1) {
      product += block[i]! * signal[from + i]!
      power += signal[from + i]! ** 2
    }
    const correlation = product / Math.sqrt(own * power + Number.EPSILON)
    if (correlation > best.correlation) best = { correlation, gain: product / power }
  }
  return best
}
