import type { Level } from '../../../shared/level-meter.ts'

/** Where everything is in the file; stored with the peaks. */
export interface PreviewIndex {
  /** Hertz. */
  sample_rate: number
  /** Length of each sound at that rate, and of each segment but the last. */
  samples: number
  segment_samples: number
  /** Size of each segment in the order of the file: `mixture`, the targets, `residual`, … */
  bytes: number[]
  /** One for each sound, in the same order. */
  levels: Level[]
}
