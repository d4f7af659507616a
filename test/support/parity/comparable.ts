/** Lists the stages that can be compared with a reference folder, for any model. */
import { GoldenFolder, type Stage } from './golden-folder.ts'
import type { Comparison } from './comparison.ts'
import { AUDIOSEP_STAGES } from './audiosep/stages.ts'
import { HTDEMUCS_STAGES } from './htdemucs/stages.ts'
import { ROFORMER_STAGES } from './roformer/stages.ts'
import { SCNET_STAGES } from './scnet/stages.ts'
import { SPLEETER_STAGES } from './spleeter/stages.ts'
import { Reference } from './reference.ts'
import { SAM_AUDIO_STAGES } from './stages.ts'

export interface Comparable {
  stages: Readonly<Record<string, ComparableStage>>
  /** See `GoldenFolder.untouched`. */
  readonly untouched: GoldenFolder['untouched']
}

interface ComparableStage {
  /** Files that the stage needs and the folder lacks. */
  missing: readonly string[]
  run(): Promise<Comparison[]>
}

/** Stages of each open model, by how the manifest's `what` begins. */
const OPEN_MODELS: Readonly<Record<string, Readonly<Record<string, Stage>>>> = {
  AudioSep: AUDIOSEP_STAGES,
  'BS-RoFormer': ROFORMER_STAGES,
  HTDemucs: HTDEMUCS_STAGES,
  SCNet: SCNET_STAGES,
  Spleeter: SPLEETER_STAGES,
}

/** @throws Error if there is no manifest, or if its model is unknown */
export async function openComparable(folder: string): Promise<Comparable> {
  if (!GoldenFolder.isOne(folder)) {
    return comparableOf(await Reference.open(folder), SAM_AUDIO_STAGES)
  }
  const golden = await GoldenFolder.open(folder)
  const what = golden.manifest.what ?? ''
  const name = Object.keys(OPEN_MODELS).find((known) => what.startsWith(known))
  if (name) return comparableOf(golden, OPEN_MODELS[name]!)
  const known = Object.keys(OPEN_MODELS).join(', ')
  throw new Error(`${golden.manifestFile}: is of "${what}"; only ${known} can be compared`)
}

function comparableOf<Folder extends GoldenFolder>(
  folder: Folder,
  stages: Readonly<Record<string, Stage<Folder>>>,
): Comparable {
  const entries = Object.entries(stages).map(([name, stage]): [string, ComparableStage] => [
    name,
    { missing: folder.missingFor(stage), run: () => stage.run(folder) },
  ])
  return {
    stages: Object.fromEntries(entries),
    get untouched() {
      return folder.untouched
    },
  }
}
