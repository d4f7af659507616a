/** Which samples the network reads. */

/** Samples beyond this, and what is no number, are read as silence. */
export const SAMPLE_MAX = 1e6

export const finite = (sample: number): number => (Math.abs(sample) < SAMPLE_MAX ? sample : 0)
