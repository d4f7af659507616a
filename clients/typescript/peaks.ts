/** What players draw and stream: the peaks of a request, and the index of its preview. */

/**
 * A sound in audiowaveform's JSON format: the least and the greatest sample of each channel by
 * pixel.
 */
export interface Waveform {
  version: 2
  channels: number
  sample_rate: number
  samples_per_pixel: number
  bits: 8
  length: number
  data: number[]
}
export interface Peaks {
  mixture: Waveform
  targets: Waveform[]
  residual: Waveform
  /** The layout of the preview, if one was requested. */
  preview?: PreviewIndex
}
/** The layout of the file at `data.preview_url`. */
export interface PreviewIndex {
  /** Hertz. */
  sample_rate: number
  /** Length of each sound. */
  samples: number
  /** Length of each segment but the last. */
  segment_samples: number
  /** Size of each segment in the order of the file: mixture, targets, residual, mixture, … */
  bytes: number[]
  /** Largest sample and loudness of each sound, as amplitudes. */
  levels: { peak: number; loudness: number }[]
}
