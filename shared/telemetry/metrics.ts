/** The metrics that programs record, under the names in metric-definitions.ts. */

import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { METRICS, type NameOf } from './metric-definitions.ts'

export type { Counter, Gauge, Histogram }

type Series = Record<string, string>

/** A set of metrics that are read together. */
export class MetricSet {
  readonly #registry = new Registry()

  static readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE

  /** Returns all metrics in the Prometheus text format. */
  text(): Promise<string> {
    return this.#registry.metrics()
  }

  /**
   * @param series labels known in advance, which start at 0, because otherwise the first count
   *   would not be an increase
   */
  counter(name: NameOf<'counter'>, series: readonly Series[] = []): Counter {
    const counter = new Counter(this.#configuration(name))
    for (const labels of series) counter.inc(labels, 0)
    return counter
  }

  gauge(name: NameOf<'gauge'>): Gauge {
    return new Gauge(this.#configuration(name))
  }

  /** @param series the same as for a counter */
  histogram(name: NameOf<'histogram'>, series: readonly Series[] = []): Histogram {
    const buckets = [...METRICS[name].buckets]
    const histogram = new Histogram({ ...this.#configuration(name), buckets })
    for (const labels of series) histogram.zero(labels)
    return histogram
  }

  /** Adds what Prometheus expects of every program: memory, time, open files … */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.#registry })
  }

  /**
   * Adds the free space on the disk of `folder`, measured at each scrape; omitted once the folder
   * is gone.
   */
  watchDisk(folder: string): void {
    const watch = (name: NameOf<'gauge'>, bytesOf: (disk: StatsFs) => number) =>
      new Gauge({
        ...this.#configuration(name),
        async collect() {
          const disk = await statfs(folder).catch(() => null)
          if (disk) this.set(bytesOf(disk))
          else this.remove()
        },
      })
    watch('winnow_disk_free_bytes', ({ bavail, bsize }) => bavail * bsize)
    watch('winnow_disk_size_bytes', ({ blocks, bsize }) => blocks * bsize)
  }

  #configuration(name: keyof typeof METRICS) {
    const { help, labelNames } = METRICS[name]
    return { name, help, labelNames: [...labelNames], registers: [this.#registry] }
  }
}
