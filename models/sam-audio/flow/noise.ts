/**
 * Makes the noise that the flow begins with. It depends on its seed and its place alone, so that
 * the overlap of two chunks begins alike in both.
 */

/**
 * Normal numbers, [frames, channels], of the frames from `firstFrame` of the whole mixture.
 * Every pair of channels is drawn from a hash of seed, frame and place (Box and Muller).
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

/** 32 bits to 32 others, every one of which depends on all (the finalizer of MurmurHash3). */
function mix(value: number): number {
  let bits = (value + ANOTHER) | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
