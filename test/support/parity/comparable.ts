/** Lists the stages that can be compared with a reference folder, for any model. */
import { GoldenFolder } from './golden-folder.ts'
import type { Comparison } from './comparison.ts'
import { AUDIOSEP_STAGES } from './audiosep/stages.ts'
import { HTDEMUCS_STAGES } from './htdemucs/stages.ts'
import type { OpenStage } from './open-stage.ts'
import { ROFORMER_STAGES } from './roformer/stages.ts'
import { SCNET_STAGES } from './scnet/stages.ts'
import { SPLEETER_STAGES } from './spleeter/stages.ts'
import { Reference } from './reference.ts'
import { missingFor, runStage, STAGES } from './stages.ts'

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
const OPEN_MODELS: Readonly<Record<string, Readonly<Record<string, OpenStage>>>> = {
  AudioSep: AUDIOSEP_STAGES,
  'BS-RoFormer': ROFORMER_STAGES,
  HTDemucs: HTDEMUCS_STAGES,
  SCNet: SCNET_STAGES,
  Spleeter: SPLEETER_STAGES,
}

/** @throws Error if there is no manifest, or if its model is unknown */
export async function openComparable(folder: string): Promise<Comparable> {
  return GoldenFolder.isOne(folder) ? openModel(folder) : openSamAudio(folder)
}

async function openModel(folder: string): Promise<Comparable> {
  const golden = await GoldenFolder.open(folder)
  const what = golden.manifest.what ?? ''
  const name = Object.keys(OPEN_MODELS).find((known) => what.startsWith(known))
  if (!name) {
    const known = Object.keys(OPEN_MODELS).join(', ')
    throw new Error(`${golden.manifestFile}: is of "${what}"; only ${known} can be compared`)
  }
  return {
    stages: mapStages(OPEN_MODELS[name]!, ({ files, run }) => ({
      missing: files.filter((file) => !golden.has(file)),
      run: () => run(golden),
    })),
    get untouched() {
      return golden.untouched
    },
  }
}

async function openSamAudio(folder: string): Promise<Comparable> {
  const reference = await Reference.open(folder)
  return {
    stages: mapStages(STAGES, (stage) => ({
      missing: missingFor(stage, reference),
      run: () => runStage(stage, reference),
    })),
    get untouched() {
      return reference.untouched
    },
  }
}

const mapStages = <Stage>(
  stages: Readonly<Record<string, Stage>>,
  map: (stage: Stage) => ComparableStage,
): Record<string, ComparableStage> =>
  Object.fromEntries(Object.entries(stages).map(([name, stage]) => [name, map(stage)]))
