/** How wide a model computes: names alone, for those who do not load TensorFlow. */

/** How wide the products of a network are. */
export const PRECISIONS = ['float32', 'bfloat16'] as const

export type Precision = (typeof PRECISIONS)[number]

/** An operator's choices; `auto`: bfloat16 where the device computes it fast. */
export const PRECISION_CHOICES = ['auto', ...PRECISIONS] as const

export type PrecisionChoice = (typeof PRECISION_CHOICES)[number]
