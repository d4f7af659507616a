/** Rates of an engine between two snapshots of its totals. */

/** The totals of an engine in one snapshot. */
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

/** Rates are counted from a snapshot that is at most this old. */
const WINDOW_MS = 60_000

/**
 * Adds a snapshot, and drops those that are older than a minute.
 * @returns the oldest one left, from which rates are counted
 */
export function rememberSnapshot<Snapshot extends FleetSnapshot>(
  snapshots: Snapshot[],
  snapshot: Snapshot,
): Snapshot {
  const oldest = Date.parse(snapshot.at) - WINDOW_MS
  while (snapshots[0] && Date.parse(snapshots[0].at) < oldest) snapshots.shift()
  snapshots.push(snapshot)
  return snapshots[0]!
}

export interface EngineRates {
  /** How full batches were on average, from 0 to 1; null if none was computed. */
  fill: number | null
  /** Seconds of media separated per second. */
  audio: number
  /** The share of the time in which the device worked. */
  busy: number
}

const NOTHING = { steps_total: 0, frames_total: 0, busy_seconds_total: 0, audio_seconds_total: 0 }

/**
 * @param before an earlier snapshot. Without one, or if the engine has restarted since, rates are
 *   averages since the engine's start.
 */
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
