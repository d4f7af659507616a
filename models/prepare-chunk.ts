/** Prepares chunks for models that want it; loads no TensorFlow, so that any thread can. */
import type { Chunk } from './model.ts'
import { prepareChunk as prepareForMini } from './mini/prepare-chunk.ts'

const PREPARE: Readonly<Record<string, (chunk: Chunk) => Chunk>> = { mini: prepareForMini }

/** @param model its name */
export const isPreparing = (model: string): boolean => Object.hasOwn(PREPARE, model)

/** @throws Error when it is not a chunk that the model takes */
export const prepareChunk = (model: string, chunk: Chunk): Chunk => PREPARE[model]!(chunk)
