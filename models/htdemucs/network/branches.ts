/** The two branches of the network. */
import type { Tensor } from '../../tensorflow/tensor.ts'

/** Both branches at one depth, [batch, frames, bins, channels] each; the waveform has one frame. */
export interface Branches {
  spectrogram: Tensor
  waveform: Tensor
}

export type Branch = keyof Branches
