/** Decides which shapes get a graph: those that recur, most recently used first. */
import { LruCache } from '../lru-cache.ts'

/**
 * Calls with the same shapes before they get a graph. Making one costs about as much as it saves in
 * a call, so shapes that never recur cost nothing, and others little more than the optimum.
 */
const CALLS_BEFORE = 1
/**
 * How many calls it takes until a graph has run once, which is when the native library optimises
 * it.
 */
export const WARM_UP_CALLS = CALLS_BEFORE + 1

/** For how many shapes calls are counted. */
const SHAPES_COUNTED = 512
/** How many shapes have a graph; one with a thousand operations takes some 4 MiB. */
const GRAPHS_HELD = 64

export class GraphCache<T> {
  readonly #calls = new LruCache<{ count: number }>(SHAPES_COUNTED)
  readonly #graphs: LruCache<T>

  /** @param forget frees a graph that is dropped */
  constructor(forget: (graph: T) => void = () => {}) {
    this.#graphs = new LruCache<T>(GRAPHS_HELD, (graph, shapes) => {
      forget(graph)
      this.#calls.get(shapes, none).count = 0 // otherwise it would be made again at once
    })
  }

  /**
   * Returns the graph for a call with these shapes, made by `make`, or null if the call should be
   * computed step by step.
   */
  graphFor(shapes: string, make: () => T): T | null {
    const calls = this.#calls.get(shapes, none)
    calls.count += 1
    return calls.count > CALLS_BEFORE ? this.#graphs.get(shapes, make) : null
  }
}

const none = () => ({ count: 0 })
