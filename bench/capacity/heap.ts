/** Queue of due events: a binary heap by time. */
export class Timeline<T> {
  readonly #heap: { at: number; value: T }[] = []

  add(at: number, value: T): void {
    const heap = this.#heap
    let i = heap.push({ at, value }) - 1
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (heap[parent]!.at <= heap[i]!.at) break
      ;[heap[parent], heap[i]] = [heap[i]!, heap[parent]!]
      i = parent
    }
  }

  /** Undefined when nothing is due any more. */
  next(): { at: number; value: T } | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    heap[0] = last
    let i = 0
    for (;;) {
      let least = 2 * i + 1
      if (least >= heap.length) break
      if (least + 1 < heap.length && heap[least + 1]!.at < heap[least]!.at) least += 1
      if (heap[i]!.at <= heap[least]!.at) break
      ;[heap[i], heap[least]] = [heap[least]!, heap[i]!]
      i = least
    }
    return first
  }
}
