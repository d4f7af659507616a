/** AudioSep's comparisons with its reference, in the order of the computation. */
import type { Stage } from '../golden-folder.ts'
import { compareParts, compareWaves, WAVE_FILES } from './segment.ts'
import { compareTexts } from './texts.ts'

export const AUDIOSEP_STAGES: Readonly<Record<string, Stage>> = {
  text: { files: ['text.safetensors', 'tokens.json'], run: compareTexts },
  parts: { files: ['forward_0.safetensors'], run: compareParts },
  waves: { files: [...WAVE_FILES, 'chunked.safetensors'], run: compareWaves },
}
