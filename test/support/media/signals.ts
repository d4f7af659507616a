/** One array per channel, with values in ±1. */
export type Planes = readonly Float32Array[]

const signal = (seconds: number, sampleRate: number, value: (t: number) => number): Float32Array =>
  Float32Array.from({ length: Math.round(seconds * sampleRate) }, (_, i) => value(i / sampleRate))

export const sine = (hertz: number, seconds: number, sampleRate: number): Float32Array =>
  signal(seconds, sampleRate, (t) => 0.5 * Math.sin(2 * Math.PI * hertz * t))

/** Rises from 200 Hz by 1 kHz per second. It never repeats, so any shift in time shows. */
export const chirp = (seconds: number, sampleRate: number): Float32Array =>
  signal(seconds, sampleRate, (t) => 0.5 * Math.sin(2 * Math.PI * (200 * t + 500 * t * t)))

export function concatenate(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** White noise in ±0.5 that depends only on the seed. */
export function noise(seconds: number, sampleRate: number, seed = 1): Float32Array {
  let state = seed
  return signal(seconds, sampleRate, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32 - 0.5
  })
}
