/** Numbers for operators, in the text format of Prometheus, 0.0.4. */

export type Labels = Readonly<Record<string, string>>
export type Sample = readonly [labels: Labels, value: number]

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** What only grows, as long as the process lives. */
export class Counter {
  readonly #name: string
  readonly #help: string
  readonly #values = new Map<string, number>()

  /** @param name ends in `_total` */
  constructor(name: string, help: string) {
    this.#name = name
    this.#help = help
  }

  add(labels: Labels = {}, by = 1): void {
    const key = labelText(labels)
    this.#values.set(key, (this.#values.get(key) ?? 0) + by)
  }

  text(): string {
    const lines = [...this.#values].map(([labels, value]) => `${this.#name}${labels} ${value}\n`)
    return head(this.#name, this.#help, 'counter') + lines.join('')
  }
}

interface Distribution {
  labels: Labels
  /** How many values were at most as large as each bound, and not as the one before. */
  counts: number[]
  sum: number
}

/** How values are spread. */
export class Histogram {
  readonly #name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #distributions = new Map<string, Distribution>()

  /** @param bounds of the buckets, in ascending order; one more takes what is larger */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name
    this.#help = help
    this.#bounds = [...bounds, Infinity]
  }

  observe(labels: Labels, value: number): void {
    const key = labelText(labels)
    const known = this.#distributions.get(key)
    const distribution = known ?? { labels, counts: this.#bounds.map(() => 0), sum: 0 }
    if (!known) this.#distributions.set(key, distribution)
    const bucket = this.#bounds.findIndex((bound) => value <= bound)
    distribution.counts[bucket]! += 1
    distribution.sum += value
  }

  text(): string {
    const all = [...this.#distributions.values()].map((one) => this.#linesOf(one))
    return head(this.#name, this.#help, 'histogram') + all.join('')
  }

  #linesOf({ labels, counts, sum }: Distribution): string {
    let count = 0
    const buckets = this.#bounds.map((bound, index) => {
      count += counts[index]!
      const le = bound === Infinity ? '+Inf' : String(bound)
      return `${this.#name}_bucket${labelText({ ...labels, le })} ${count}\n`
    })
    const text = labelText(labels)
    return buckets.join('') +
      `${this.#name}_sum${text} ${sum}\n${this.#name}_count${text} ${count}\n`
  }
}

/** What goes up and down, as it is now. */
export const gaugeText = (name: string, help: string, samples: readonly Sample[]): string =>
  head(name, help, 'gauge') +
  samples.map(([labels, value]) => `${name}${labelText(labels)} ${value}\n`).join('')

const head = (name: string, help: string, type: string): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
