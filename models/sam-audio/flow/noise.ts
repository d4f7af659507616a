/**
 * Makes the noise that the flow starts from. It depends only on seed and position, so that the
 * overlap of two chunks starts the same in both.
 */

/**
 * Returns normally distributed numbers, [frames, channels], from `firstFrame` of the whole mixture
 * on. Each pair of channels is drawn from a hash of seed, frame and channel (Box-Muller).
 */
export function noiseFrames(
  seed: number,
  firstFrame: number,
  frames: number,
  channels: number,
): Float32Array {
  const out = new Float32Array(frames * channels)
  for (let frame = 0; frame < frames; frame += 1) {
    const key = mix(mix(seed) + firstFrame + frame)
    for (let channel = 0; channel < channels; channel += 2) {
      const bits = mix(key + channel)
      const radius = Math.sqrt(-2 * Math.log((bits + 1) / 2 ** 32))
      const angle = 2 * Math.PI * (mix(bits ^ key ^ ANOTHER) / 2 ** 32)
      const at = frame * channels + channel
      out[at] = radius * Math.cos(angle)
      if (channel + 1 < channels) out[at + 1] = radius * Math.sin(angle)
    }
  }
  return out
}

/** Distinguishes the second draw from the first. */
const ANOTHER = 0x9e3779b9

/** Maps 32 bits to 32 others, each of which depends on all (the finalizer of MurmurHash3). */
function mix(value: number): number {
  let bits = (value + ANOTHER) | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
