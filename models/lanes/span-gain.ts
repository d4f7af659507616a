/** Turns spans into a gain on the target, sample by sample. */
import type { Span } from '../model.ts'

const EDGE_SECONDS = 0.01

export interface Range {
  start: number
  end: number
}

/**
 * Returns the gain of each sample: 0 inside spans with `include: false` and, if any span has
 * `include: true`, 0 outside all of those; otherwise 1. The raised-cosine fades lie inside the
 * audible ranges. A span that reaches the end of the chunk has no fade there, because it may
 * continue in the next chunk.
 */
export function spanGain(
  spans: readonly Span[],
  samples: number,
  sampleRate: number,
): Float32Array {
  const gain = new Float32Array(samples)
  for (const { start, end } of audibleRanges(extendSpans(spans, samples / sampleRate))) {
    const first = Math.max(0, Math.ceil(start * sampleRate))
    const last = Math.min(samples, Math.ceil(end * sampleRate))
    for (let i = first; i < last; i += 1) {
      const time = i / sampleRate
      gain[i] = edge(time - start) * edge(end - time)
    }
  }
  return gain
}

/** Applies the spans to a target in place: [channels][samples] at `sampleRate` hertz. */
export function applySpans(
  target: readonly Float32Array[],
  spans: readonly Span[],
  sampleRate: number,
): void {
  if (spans.length === 0) return
  const gain = spanGain(spans, target[0]?.length ?? 0, sampleRate)
  for (const wave of target) for (let i = 0; i < wave.length; i += 1) wave[i]! *= gain[i]!
}

/** Extends spans that reach an end of the chunk, which lasts `seconds`, beyond that end. */
export const extendSpans = (spans: readonly Span[], seconds: number): Span[] =>
  spans.map(({ start, end, include }) => ({
    start: start <= 0 ? Number.NEGATIVE_INFINITY : start,
    end: end >= seconds ? Number.POSITIVE_INFINITY : end,
    include,
  }))

/** The gain at a distance in seconds from the edge of an audible range. */
function edge(distance: number): number {
  const progress = Math.min(1, Math.max(0, distance / EDGE_SECONDS))
  return 0.5 - 0.5 * Math.cos(Math.PI * progress)
}

/**
 * Returns the ranges in which the target may be heard: disjoint, in order, with adjacent ones
 * merged. The last may have no end.
 */
export function audibleRanges(spans: readonly Span[]): Range[] {
  const times = spans.flatMap(({ start, end }) => [start, end]).sort((a, b) => a - b)
  const edges = [Number.NEGATIVE_INFINITY, ...times, Number.POSITIVE_INFINITY]
  const ranges: Range[] = []
  for (let i = 0; i + 1 < edges.length; i += 1) {
    const range = { start: edges[i]!, end: edges[i + 1]! }
    if (range.start === range.end || !isAudible(range, spans)) continue
    const last = ranges.at(-1)
    if (last?.end === range.start) last.end = range.end
    else ranges.push(range)
  }
  return ranges
}

/** Returns whether `range`, in which no span begins or ends, may be heard. */
function isAudible(range: Range, spans: readonly Span[]): boolean {
  const covers = ({ start, end }: Span) => start <= range.start && range.end <= end
  if (spans.some((span) => !span.include && covers(span))) return false
  const included = spans.filter((span) => span.include)
  return included.length === 0 || included.some(covers)
}
