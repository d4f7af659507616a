/** Prepares chunks for models that want that. It loads no TensorFlow, so any thread can do it. */
import type { Chunk } from './model.ts'
import { prepareChunk as prepareForMini } from './mini/prepare-chunk.ts'

const PREPARE: Readonly<Record<string, (chunk: Chunk) => Chunk>> = { mini: prepareForMini }

/** @param model name of the model */
export const isPreparing = (model: string): boolean => Object.hasOwn(PREPARE, model)

/** @throws Error if the model cannot take such a chunk */
export const prepareChunk = (model: string, chunk: Chunk): Chunk => PREPARE[model]!(chunk)
