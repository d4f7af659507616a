/**
 * Installs open models at their published sizes with random weights, the way `winnow model` does.
 */
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { StoredTensor } from '../models/checkpoint/stored-tensor.ts'
import { isUsedTensor } from '../models/audiosep/checkpoint.ts'
import { writeSafetensors } from '../models/checkpoint/write-safetensors.ts'
import {
  RECORD_FILE,
  type AudioSepRecord,
  type HTDemucsRecord,
  type ModelRecord,
  type RoformerRecord,
  type ScnetRecord,
} from '../models/installed/record.ts'
import { randomTensors, type Shapes } from '../test/support/models/random-weights.ts'

export const FIXTURES = fileURLToPath(new URL('../test/fixtures', import.meta.url))

/** Reads the names and shapes of a published checkpoint's tensors. */
export function readInventory(
  model: string,
  name = model,
): { kwargs: Record<string, unknown>; shapes: Shapes } {
  const text = readFileSync(join(FIXTURES, model, `${name}.inventory.json`), 'utf8')
  const { kwargs, keys } = JSON.parse(text)
  return { kwargs, shapes: Object.fromEntries(keys) }
}

const WEIGHTS_FILE = 'model.safetensors'
/** The chunk size of Kim's configuration, 8 s. */
export const ROFORMER_SAMPLES = 352_800

type RandomRecord = (
  | Pick<HTDemucsRecord, 'kind' | 'networks'>
  | Pick<AudioSepRecord, 'kind' | 'file' | 'sampleRate' | 'textHeads'>
  | Pick<RoformerRecord, 'kind' | 'file' | 'configuration'>
  | Pick<ScnetRecord, 'kind' | 'file' | 'configuration'>
) & { tensors: ReadonlyMap<string, StoredTensor> }

const MODELS: Readonly<Record<string, () => RandomRecord>> = {
  htdemucs: () => {
    const { kwargs, shapes } = readInventory('htdemucs')
    const stems = kwargs.sources as string[]
    const networks = [{ file: WEIGHTS_FILE, kwargs, stems }]
    return { kind: 'htdemucs', networks, tensors: randomTensors(shapes) }
  },
  audiosep: () => {
    const { shapes: all } = readInventory('audiosep')
    const used = Object.fromEntries(Object.entries(all).filter(([name]) => isUsedTensor(name)))
    const tensors = randomTensors(used)
    return { kind: 'audiosep', file: WEIGHTS_FILE, sampleRate: 32_000, textHeads: 12, tensors }
  },
  roformer: () => {
    const { kwargs, shapes } = readInventory('roformer', 'mel-band-roformer-kim')
    const configuration = {
      model: kwargs,
      audio: { chunk_size: ROFORMER_SAMPLES },
      training: { target_instrument: 'vocals' },
    }
    return { kind: 'roformer', file: WEIGHTS_FILE, configuration, tensors: randomTensors(shapes) }
  },
  scnet: () => scnet('scnet'),
  'scnet-large': () => scnet('scnet-large'),
}

function scnet(name: string): RandomRecord {
  const { kwargs, shapes } = readInventory('scnet', name)
  const configuration = { model: kwargs }
  return { kind: 'scnet', file: WEIGHTS_FILE, configuration, tensors: randomTensors(shapes) }
}

/** Installs a model into the folder of models. @throws Error that lists the available models */
export async function installRandomModel(modelsFolder: string, name: string): Promise<void> {
  const make = MODELS[name]
  if (!make) throw new Error(`there is ${Object.keys(MODELS).join(', ')}, not ${name}`)
  const { tensors, ...partial } = make()
  const folder = join(modelsFolder, name)
  await mkdir(folder, { recursive: true })
  await writeSafetensors(join(folder, WEIGHTS_FILE), tensors, 'float32')
  if (partial.kind === 'audiosep') {
    for (const file of ['tokenizer.json', 'tokenizer_config.json']) {
      await copyFile(join(FIXTURES, 'audiosep/model', file), join(folder, file))
    }
  }
  const record: ModelRecord = {
    format: 1,
    name,
    installedAt: new Date().toISOString(),
    licence: 'random weights',
    sources: [],
    ...partial,
  }
  await writeFile(join(folder, RECORD_FILE), JSON.stringify(record))
}
