/** Decides which shapes have a graph: those that recur, the latest used ones. */
import { LruCache } from '../lru-cache.ts'

/**
 * Calls in the same shapes before a graph is made of one: making it costs as much as it saves in a
 * call. So shapes that never come again cost nothing, and others little more than at best.
 */
const CALLS_BEFORE = 1
/** Calls until a graph has run once, which is when the native library makes it fast. */
export const WARM_UP_CALLS = CALLS_BEFORE + 1

/** Shapes whose calls are counted. */
const SHAPES_COUNTED = 512
/** Shapes that have a graph: one of a thousand operations takes some 4 MiB. */
const GRAPHS_HELD = 64

export class GraphCache<T> {
  readonly #calls = new LruCache<{ count: number }>(SHAPES_COUNTED)
  readonly #graphs: LruCache<T>

  /** @param forget frees a graph that is no longer held */
  constructor(forget: (graph: T) => void = () => {}) {
    this.#graphs = new LruCache<T>(GRAPHS_HELD, (graph, shapes) => {
      forget(graph)
      this.#calls.get(shapes, none).count = 0 // or it would be made again at once
    })
  }

  /** The graph for a call in these shapes, which `make` makes; null: compute step by step. */
  graphFor(shapes: string, make: () => T): T | null {
    const calls = this.#calls.get(shapes, none)
    calls.count += 1
    return calls.count > CALLS_BEFORE ? this.#graphs.get(shapes, make) : null
  }
}

const none = () => ({ count: 0 })
