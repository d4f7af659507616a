/** HTDemucs' comparisons with its reference, in the order of the computation. */
import type { Stage } from '../golden-folder.ts'
import { compareBag, compareSong } from './song.ts'
import { compareItems, compareParts, ITEM_FILES } from './segment.ts'

export const HTDEMUCS_STAGES: Readonly<Record<string, Stage>> = {
  parts: { files: ['forward_full.safetensors'], run: compareParts },
  segment: { files: ITEM_FILES, run: compareItems },
  song: { files: ['song.safetensors'], run: compareSong },
  bag: { files: ['song.safetensors', 'bag.safetensors'], run: compareBag },
}
