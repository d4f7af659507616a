/** How busy an engine was between two looks at its totals. */

/** An engine's totals at one look. */
export interface EngineTotals {
  engine_id: string
  started_at: string
  batch_frames_max: number
  steps_total: number
  frames_total: number
  busy_seconds_total: number
  audio_seconds_total: number
}

export interface FleetSnapshot {
  /** When, as ISO 8601. */
  at: string
  engines: readonly EngineTotals[]
}

/** So far back the look is that rates are counted from. */
const WINDOW_MS = 60_000

/** Keeps the looks of the last minute, and adds one. @returns the oldest: rates count from it */
export function rememberSnapshot<Look extends FleetSnapshot>(looks: Look[], look: Look): Look {
  const oldest = Date.parse(look.at) - WINDOW_MS
  while (looks[0] && Date.parse(looks[0].at) < oldest) looks.shift()
  looks.push(look)
  return looks[0]!
}

export interface EngineRates {
  /** How full a batch was, from 0 to 1; null: none was stepped. */
  fill: number | null
  /** Seconds of media separated in a second. */
  audio: number
  /** The share of the time in which the device worked. */
  busy: number
}

const NOTHING = { steps_total: 0, frames_total: 0, busy_seconds_total: 0, audio_seconds_total: 0 }

/** @param before an earlier look; without it, or of a later start, rates are of all time */
export function ratesOf(
  engine: EngineTotals,
  at: string,
  before: FleetSnapshot | undefined,
): EngineRates {
  const isSame = ({ engine_id, started_at }: EngineTotals) =>
    engine_id === engine.engine_id && started_at === engine.started_at
  const earlier = before && before.at !== at ? before.engines.find(isSame) : undefined
  const from = earlier ?? NOTHING
  const since = Date.parse(earlier && before ? before.at : engine.started_at)
  const seconds = Math.max((Date.parse(at) - since) / 1_000, 0.001)
  const steps = engine.steps_total - from.steps_total
  const frames = engine.frames_total - from.frames_total
  return {
    fill: steps === 0 ? null : frames / steps / engine.batch_frames_max,
    audio: (engine.audio_seconds_total - from.audio_seconds_total) / seconds,
    busy: (engine.busy_seconds_total - from.busy_seconds_total) / seconds,
  }
}
