/** Inventory of a SAM-Audio folder: parts, weights, and the memory that they will need. */
import { access, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { predictMemory, type MemoryPrediction } from '../../../models/memory/predict.ts'
import type { Precision } from '../../../models/tensorflow/precision.ts'
import { readConfig } from '../../../models/sam-audio/config.ts'
import {
  findCheckpoint,
  findParts,
  PARTS,
  unusedFolders,
  type Part,
} from '../../../models/sam-audio/checkpoint-folders.ts'
import { readJudgeConfig } from '../../../models/sam-audio/judge/judge.ts'
import { readSpanPredictorConfig } from '../../../models/sam-audio/spans/span-predictor.ts'
import { loadSamAudio } from '../../../models/sam-audio/sam-audio.ts'
import { readT5Config } from '../../../models/sam-audio/text/t5-config.ts'
import { countOf } from '../../../models/checkpoint/stored-tensor.ts'
import { openTensors, weightFiles } from '../../../models/checkpoint/weights.ts'

export interface PartInventory {
  part: Part
  /** What it is for, and whether the model works without it. */
  purpose: string
  required: boolean
  /** Null if there is none. */
  folder: string | null
  /** Faults, in words. */
  problems: string[]
  weights: WeightsInventory | null
}

export interface WeightsInventory {
  file: string
  bytes: number
  parameters: number
  /** How the numbers are stored, for example FloatStorage. */
  types: string[]
  /** By the first word of their names, the largest first. */
  groups: { name: string; parameters: number; used: boolean }[]
  /** Size of the groups in use, as float32. */
  memoryBytes: number
}

export interface Inventory {
  parts: PartInventory[]
  /** Sentences about folders that look like a part but are not used. */
  warnings: string[]
  /** Size of all weights in use, as float32. */
  weightsBytes: number
}

/**
 * Predicts the memory that an engine needs on its device with a complete folder, by running lanes
 * of the longest chunk through the model on shapes alone.
 * @throws Error naming weights that are missing or have the wrong shape
 */
export const predictFor = (folder: string, precision: Precision): Promise<MemoryPrediction> =>
  predictMemory(() => loadSamAudio(folder, precision))

interface PartRules {
  purpose: string
  required: boolean
  /** Files in addition to configuration and weights. */
  files: readonly string[]
  /** Groups of weights that are required, and groups that are never read. */
  groups: readonly string[]
  unused: readonly string[]
  readConfig(file: string): Promise<unknown>
}

const TOKENIZER = ['tokenizer.json']

const RULES: Readonly<Record<Part, PartRules>> = {
  model: {
    purpose: 'separates',
    required: true,
    files: [],
    groups: [
      'audio_codec',
      'transformer',
      'proj',
      'align_masked_video',
      'embed_anchors',
      'memory_proj',
    ],
    unused: ['vision_encoder'],
    readConfig,
  },
  text: {
    purpose: 'encodes the prompt',
    required: true,
    files: TOKENIZER,
    groups: ['shared', 'encoder'],
    unused: ['decoder', 'lm_head'],
    readConfig: readT5Config,
  },
  spans: {
    purpose: 'finds where the sound is (predict_spans)',
    required: false,
    files: TOKENIZER,
    groups: ['audio_model', 'text_model', 'audio_head', 'text_head', 'logit_scale', 'logit_bias'],
    unused: [],
    readConfig: readSpanPredictorConfig,
  },
  judge: {
    purpose: 'ranks candidates',
    required: false,
    files: TOKENIZER,
    groups: ['data_proj', 'transformer', 'text_model', 'finetune_transformer', 'head'],
    unused: [],
    readConfig: readJudgeConfig,
  },
}

/**
 * Reads configurations and headers, but no weights.
 * @throws Error if parts cannot be told apart
 */
export async function takeInventory(folder: string): Promise<Inventory> {
  const folders = await findParts(folder)
  const parts = await Promise.all(PARTS.map((part) => inventoryOf(part, folders[part] ?? null)))
  const sizes = parts.map(({ weights }) => weights?.memoryBytes ?? 0)
  return {
    parts,
    warnings: await unusedFolders(folder, folders),
    weightsBytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
  }
}

async function inventoryOf(part: Part, folder: string | null): Promise<PartInventory> {
  const { purpose, required, files, readConfig: read } = RULES[part]
  const inventory = { part, purpose, required, folder, weights: null }
  if (!folder) return { ...inventory, problems: ['there is no folder of it'] }
  const absent = await Promise.all(
    files.map(
      async (name) =>
        await access(join(folder, name)).then(
          () => [],
          () => [`${name} is missing`],
        ),
    ),
  )
  const config = await read(join(folder, 'config.json')).then(() => [], inWords)
  const weights = await weightsOf(part, folder).catch(inWords)
  if (Array.isArray(weights)) {
    return { ...inventory, problems: [...absent.flat(), ...config, ...weights] }
  }
  const missing = RULES[part].groups
    .filter((name) => !weights.groups.some((group) => group.name === name))
    .map((name) => `the weights ${name} are missing from ${basename(weights.file)}`)
  return { ...inventory, weights, problems: [...absent.flat(), ...config, ...missing] }
}

const inWords = (error: unknown): string[] => [(error as Error).message]

async function weightsOf(part: Part, folder: string): Promise<WeightsInventory> {
  const file = await findCheckpoint(folder)
  const sizes = new Map<string, number>()
  const types = new Set<string>()
  for (const [name, { shape, type }] of openTensors(file)) {
    const group = name.split('.')[0]!
    sizes.set(group, (sizes.get(group) ?? 0) + countOf(shape))
    types.add(type)
  }
  const groups = [...sizes]
    .sort((a, b) => b[1] - a[1])
    .map(([name, parameters]) => ({ name, parameters, used: !RULES[part].unused.includes(name) }))
  const sizesOfFiles = await Promise.all(weightFiles(file).map((name) => stat(name)))
  const sum = (some: typeof groups) => some.reduce((total, { parameters }) => total + parameters, 0)
  return {
    file,
    groups,
    types: [...types].sort(),
    bytes: sizesOfFiles.reduce((total, { size }) => total + size, 0),
    parameters: sum(groups),
    memoryBytes: 4 * sum(groups.filter(({ used }) => used)),
  }
}
