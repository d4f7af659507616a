/**
 * Compares how times become frames: the conditioning of every frame, and the rounding of predicted
 * times.
 */
import { anchorTokens } from '../../../../models/sam-audio/spans/anchors.ts'
import { frameCount } from '../../../../models/sam-audio/codec/codec.ts'
import { findSpans } from '../../../../models/sam-audio/spans/find-spans.ts'
import { compareExactly, type Comparison } from '../comparison.ts'
import type { Reference } from '../reference.ts'

const FILE = 'processor.json'

interface Case {
  label: string
  hop_length: number
  sample_rate: number
  wav_sizes: number[]
  sizes: number[]
  /** Anchors of each row; null if the case has none at all. */
  anchors: [sign: '+' | '-', start: number, end: number][][] | null
  anchor_tokens_per_frame: number[][]
}

interface ProcessorFile {
  cases: Case[]
  span_roundtrip: { frames_that_grow: number[] }
}

/** The published checkpoints' rate and frame size, which the round trip uses. */
const PUBLISHED = { sampleRate: 48_000, hop: 1920 }
const ROUND_TRIP_FRAMES = 300

export async function compareAnchors(reference: Reference): Promise<Comparison[]> {
  const { cases, span_roundtrip: roundTrip } = await reference.json<ProcessorFile>(FILE)
  const growing = Array.from({ length: ROUND_TRIP_FRAMES }, (_, frame) => frame).filter(
    (frame) => roundTripOf(frame) !== frame,
  )
  return [
    ...cases.flatMap(compareCase),
    compareExactly(FILE, 'span_roundtrip', growing, roundTrip.frames_that_grow),
  ]
}

/** Compares the real frames of each row; we have no others. */
function compareCase(each: Case): Comparison[] {
  const clock = { sampleRate: each.sample_rate, hop: each.hop_length }
  const sizes = each.wav_sizes.map((samples) => frameCount(samples, clock.hop))
  const tokens = sizes.map((frames, row) => {
    const spans = (each.anchors?.[row] ?? []).map(([sign, start, end]) => ({
      start,
      end,
      include: sign === '+',
    }))
    return [...anchorTokens(spans, frames, clock)]
  })
  const expected = each.anchor_tokens_per_frame.map((row, i) => row.slice(0, each.sizes[i]))
  return [
    compareExactly(FILE, `sizes: ${each.label}`, sizes, each.sizes),
    compareExactly(FILE, `anchors: ${each.label}`, tokens, expected),
  ]
}

/** Returns the frame at which a predicted span is reported to begin if it begins at `frame`. */
function roundTripOf(frame: number): number {
  const scores = Array.from({ length: ROUND_TRIP_FRAMES + 2 }, (_, i) => Number(i >= frame))
  return [...anchorTokens(findSpans(scores, PUBLISHED), scores.length, PUBLISHED)].indexOf(1)
}
