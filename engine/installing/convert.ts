/** Converts published checkpoints into an installed model: a folder with tensors and a record. */
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isUsedTensor, openAudioSepCheckpoint } from '../../models/audiosep/checkpoint.ts'
import { readAudioSepConfig } from '../../models/audiosep/config.ts'
import { loadNetwork as loadAudioSep } from '../../models/audiosep/network/network.ts'
import { loadTextEncoder } from '../../models/audiosep/text.ts'
import type { StoredTensor } from '../../models/checkpoint/stored-tensor.ts'
import { Weights } from '../../models/checkpoint/weights.ts'
import { writeSafetensors } from '../../models/checkpoint/write-safetensors.ts'
import { openHTDemucsCheckpoint } from '../../models/htdemucs/checkpoint.ts'
import { readHTDemucsConfig } from '../../models/htdemucs/config.ts'
import { loadNetwork as loadHTDemucs } from '../../models/htdemucs/network/network.ts'
import { withShapeBinding } from '../../models/memory/shape-binding.ts'
import type {
  AudioSepRecord,
  HTDemucsRecord,
  RoformerRecord,
  ScnetRecord,
  SpleeterRecord,
} from '../../models/installed/record.ts'
import { openRoformerCheckpoint } from '../../models/roformer/checkpoint.ts'
import { readRoformerConfig } from '../../models/roformer/config.ts'
import { loadNetwork as loadRoformer } from '../../models/roformer/network/network.ts'
import { openScnetCheckpoint } from '../../models/scnet/checkpoint.ts'
import { readScnetConfig } from '../../models/scnet/config.ts'
import { loadNetwork as loadScnet } from '../../models/scnet/network/network.ts'
import { openSpleeterCheckpoint } from '../../models/spleeter/checkpoint.ts'
import { readSpleeterConfig, TWO_STEMS } from '../../models/spleeter/config.ts'
import { loadNetwork as loadSpleeter } from '../../models/spleeter/network/network.ts'
import { readYaml } from './read-yaml.ts'

type Tensors = ReadonlyMap<string, StoredTensor>

/** The fields of a record that are derived from the files themselves. */
export type ConvertedRecord =
  | Pick<HTDemucsRecord, 'kind' | 'networks'>
  | Pick<AudioSepRecord, 'kind' | 'file' | 'sampleRate' | 'textHeads'>
  | Pick<RoformerRecord, 'kind' | 'file' | 'configuration'>
  | Pick<ScnetRecord, 'kind' | 'file' | 'configuration'>
  | Pick<SpleeterRecord, 'kind' | 'file' | 'kwargs'>

/**
 * Writes the tensors of the files into `folder`.
 * @param files one checkpoint, several of a bag, or one with its configuration and tokenizer
 * @param stemOfFile the stem that each checkpoint produces, if there are several
 * @throws Error naming the file and what is wrong with it, or the file that must come with it
 */
export async function convert(
  files: readonly string[],
  folder: string,
  stemOfFile?: readonly string[],
): Promise<ConvertedRecord> {
  const index = files.find((file) => file.endsWith('.index'))
  if (index !== undefined) {
    const configuration = files.find((file) => file.endsWith('.json'))
    return convertSpleeter(index, configuration, folder)
  }
  const checkpoints = files.filter((file) => !/\.(json|ya?ml)$/.test(file))
  if (checkpoints.length === 0) {
    throw new Error(
      'Give the file of a checkpoint (.th, .ckpt, .pt) and the files that come with it.',
    )
  }
  if (checkpoints.every((file) => isKind(file, openHTDemucsCheckpoint))) {
    return convertHTDemucs(checkpoints, folder, stemOfFile)
  }
  const [checkpoint = ''] = checkpoints
  if (checkpoints.length > 1) {
    throw new Error(`${checkpoints.join(', ')}: are not the networks of one model`)
  }
  const beside = new FilesBeside(checkpoint, files)
  if (isKind(checkpoint, openScnetCheckpoint)) {
    return convertScnet(checkpoint, beside, folder)
  }
  const isRoformer = [...openRoformerCheckpoint(checkpoint).keys()].some((name) =>
    name.startsWith('band_split.'),
  )
  return isRoformer
    ? convertRoformer(checkpoint, beside, folder)
    : convertAudioSep(checkpoint, beside, folder)
}

/** The files that accompany the checkpoint of a model. */
class FilesBeside {
  readonly #checkpoint: string
  readonly #files: readonly string[]

  constructor(checkpoint: string, files: readonly string[]) {
    this.#checkpoint = checkpoint
    this.#files = files
  }

  find(pattern: RegExp): string | undefined {
    return this.#files.find((file) => pattern.test(basename(file)))
  }

  /** @throws Error saying which file is needed */
  get(pattern: RegExp, what: string): string {
    const file = this.find(pattern)
    if (file !== undefined) return file
    throw new Error(`${this.#checkpoint}: needs ${what} with it`)
  }
}

const YAML = /\.ya?ml$/

/**
 * Whether a file can be opened this way. Files of unknown kinds are refused when they are
 * converted.
 */
function isKind(file: string, openCheckpoint: (file: string) => unknown): boolean {
  try {
    openCheckpoint(file)
    return true
  } catch (error) {
    if (/: is not a checkpoint of |: global .* is refused/.test(String(error))) return false
    throw error
  }
}

async function convertHTDemucs(
  checkpoints: readonly string[],
  folder: string,
  stemOfFile: readonly string[] | undefined,
): Promise<ConvertedRecord> {
  if (checkpoints.length > 1 && stemOfFile?.length !== checkpoints.length) {
    throw new Error(
      `${checkpoints.length} networks need the stem that each gives: ` +
        '--stems drums,bass,… in the order of the files.',
    )
  }
  const networks: HTDemucsRecord['networks'][number][] = []
  for (const [i, checkpoint] of checkpoints.entries()) {
    const { kwargs, tensors } = openHTDemucsCheckpoint(checkpoint)
    const config = readHTDemucsConfig(kwargs)
    await checkTensors(checkpoint, tensors, (weights) => loadHTDemucs(weights, config))
    const stems = stemOfFile ? [stemOfFile[i]!] : config.sources
    const unknown = stems.filter((stem) => !config.sources.includes(stem))
    if (unknown.length > 0) {
      const sources = config.sources.join(', ')
      throw new Error(`${checkpoint}: gives ${sources}, and no ${unknown.join(', ')}`)
    }
    const file = `${basename(checkpoint).replace(/\.[^.]*$/, '')}.safetensors`
    await writeSafetensors(join(folder, file), tensors, 'float16')
    networks.push({ file, kwargs, stems })
  }
  return { kind: 'htdemucs', networks }
}

const WEIGHTS_FILE = 'model.safetensors'

async function convertAudioSep(
  checkpoint: string,
  beside: FilesBeside,
  folder: string,
): Promise<ConvertedRecord> {
  const all = openAudioSepCheckpoint(checkpoint)
  const tensors = new Map([...all].filter(([name]) => isUsedTensor(name)))
  const sampleRate = await sampleRateOf(
    beside.get(YAML, 'its configuration (.yaml), which states the sample rate'),
  )
  const tokenizer = [
    beside.get(/^tokenizer\.json$/, "its tokenizer (roberta-base's tokenizer.json)"),
    beside.find(/^tokenizer_config\.json$/),
  ]
  const textConfig = beside.find(/^config\.json$/)
  const textHeads = await headsOf(textConfig)
  const stated = { sampleRate, ...(textHeads !== undefined && { textHeads }) }
  const { text } = await checkTensors(checkpoint, tensors, (weights) => {
    const config = readAudioSepConfig(weights, stated)
    loadAudioSep(weights.at('ss_model'), config)
    loadTextEncoder(weights.at('query_encoder').at('model'), config.text)
    return config
  })
  await writeSafetensors(join(folder, WEIGHTS_FILE), tensors, 'float32')
  for (const file of [...tokenizer, textConfig]) {
    if (file !== undefined) await copyFile(file, join(folder, basename(file)))
  }
  return { kind: 'audiosep', file: WEIGHTS_FILE, sampleRate, textHeads: text.heads }
}

async function convertRoformer(
  checkpoint: string,
  beside: FilesBeside,
  folder: string,
): Promise<ConvertedRecord> {
  const configuration = await readYaml(beside.get(YAML, 'its configuration (.yaml)'))
  const config = readRoformerConfig(configuration)
  const tensors = openRoformerCheckpoint(checkpoint)
  await checkTensors(checkpoint, tensors, (weights) => loadRoformer(weights, config))
  await writeSafetensors(join(folder, WEIGHTS_FILE), tensors, 'float32')
  return { kind: 'roformer', file: WEIGHTS_FILE, configuration }
}

async function convertScnet(
  checkpoint: string,
  beside: FilesBeside,
  folder: string,
): Promise<ConvertedRecord> {
  const configuration = await readYaml(beside.get(YAML, 'its configuration (.yaml)'))
  const config = readScnetConfig(configuration)
  const tensors = openScnetCheckpoint(checkpoint)
  await checkTensors(checkpoint, tensors, (weights) => loadScnet(weights, config))
  await writeSafetensors(join(folder, WEIGHTS_FILE), tensors, 'float32')
  return { kind: 'scnet', file: WEIGHTS_FILE, configuration }
}

/** @param configuration if absent, that of the published network with two stems */
async function convertSpleeter(
  index: string,
  configuration: string | undefined,
  folder: string,
): Promise<ConvertedRecord> {
  const kwargs: SpleeterRecord['kwargs'] =
    configuration === undefined ? TWO_STEMS : JSON.parse(await readFile(configuration, 'utf8'))
  const config = readSpleeterConfig(kwargs)
  const tensors = openSpleeterCheckpoint(index)
  await checkTensors(index, tensors, (weights) => loadSpleeter(weights, config))
  await writeSafetensors(join(folder, WEIGHTS_FILE), tensors, 'float16')
  return { kind: 'spleeter', file: WEIGHTS_FILE, kwargs }
}

async function sampleRateOf(file: string): Promise<number> {
  const rate = (await readYaml(file)).data?.sampling_rate
  if (Number.isInteger(rate) && (rate as number) > 0) return rate as number
  throw new Error(`${file}: does not state data.sampling_rate`)
}

/**
 * Returns the number of attention heads that the text encoder's configuration states; undefined
 * without a configuration.
 */
async function headsOf(file: string | undefined): Promise<number | undefined> {
  if (!file) return undefined
  const heads = JSON.parse(await readFile(file, 'utf8')).num_attention_heads
  if (Number.isInteger(heads) && heads > 0) return heads
  throw new Error(`${file}: does not state num_attention_heads`)
}

/** @throws Error naming tensors that are missing, unexpected or have the wrong shape */
async function checkTensors<T>(
  file: string,
  tensors: Tensors,
  load: (weights: Weights) => T,
): Promise<T> {
  let loaded: T | undefined
  await withShapeBinding(async () => {
    const weights = Weights.of(file, tensors)
    loaded = load(weights)
    weights.assertAllRead()
  })
  return loaded as T
}

/** Writes the record, which turns the folder into an installed model. */
export const writeRecord = (folder: string, file: string, record: object): Promise<void> =>
  writeFile(join(folder, file), `${JSON.stringify(record, null, 2)}\n`)
