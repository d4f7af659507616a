import { ChunkCutter, type ChunkPlan, type MixtureChunk } from '../../../engine/job/chunks.ts'

/** Cuts a signal that arrives in blocks into chunks. */
export async function* cutChunks(
  blocks: AsyncIterable<Float32Array[]> | Iterable<Float32Array[]>,
  channels: number,
  plan: ChunkPlan,
): AsyncGenerator<MixtureChunk> {
  const cutter = new ChunkCutter(channels, plan)
  for await (const block of blocks) yield* cutter.add(block)
  yield* cutter.finish()
}
