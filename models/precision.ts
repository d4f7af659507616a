/** How wide a model computes: names alone, for those who do not load TensorFlow. */

/** How wide the products of a network are. */
export type Precision = 'float32' | 'bfloat16'

/** What an operator may ask for; `auto`: bfloat16 where the device computes it fast. */
export const PRECISIONS = ['auto', 'float32', 'bfloat16'] as const

export type PrecisionChoice = (typeof PRECISIONS)[number]
