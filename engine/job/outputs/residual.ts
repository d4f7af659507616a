/** The residual: a mixture without its targets. */

/**
 * Subtracts the planar samples `[channels][samples]` of all `targets` from `mixture`, one by one
 * and in place.
 */
export function residualOf(
  mixture: Float32Array[],
  targets: readonly (readonly Float32Array[])[],
): Float32Array[] {
  for (const [c, wave] of mixture.entries()) {
    for (const target of targets) {
      const taken = target[c]!
      for (let i = 0; i < wave.length; i += 1) wave[i]! -= taken[i]!
    }
  }
  return mixture
}
