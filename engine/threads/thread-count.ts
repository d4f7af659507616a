/** Threads are made for so many cores each: one for two cores, four for sixteen and more. */
const CORES_PER_THREAD = 4
const THREADS_MAX = 4

/** Threads for one kind of work outside of the model, on so many cores. */
export const threadCountFor = (cores: number): number =>
  Math.min(THREADS_MAX, Math.max(1, Math.floor(cores / CORES_PER_THREAD)))
