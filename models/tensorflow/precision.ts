/** The precisions in which models compute. Only names, for code that does not load TensorFlow. */

/** Precision of a network's matrix products. */
export const PRECISIONS = ['float32', 'bfloat16'] as const

export type Precision = (typeof PRECISIONS)[number]

/** What an admin can choose; `auto` means bfloat16 if the device computes it fast. */
export const PRECISION_CHOICES = ['auto', ...PRECISIONS] as const

export type PrecisionChoice = (typeof PRECISION_CHOICES)[number]
