/**
 * The models that there are, apart from their code: settings are checked without loading
 * TensorFlow.
 */

export const MODEL_NAMES = ['mini'] as const

export type ModelName = (typeof MODEL_NAMES)[number]
