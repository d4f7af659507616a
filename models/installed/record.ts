/** Models that an admin installed: a folder for each, with weights and a record of their origin. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A file from which an installed model was made. */
export interface SourceFile {
  file: string
  /** The address from which it was fetched; absent if it was imported. */
  url?: string
  sha256: string
  bytes: number
  /** Whether its checksum was compared with a published one. */
  verified: boolean
}

interface CommonRecord {
  /** Version of the record's format. */
  format: 1
  name: string
  /** Time in ISO 8601. */
  installedAt: string
  /** What is known about the licence of the weights, in sentences. */
  licence: string
  sources: readonly SourceFile[]
}

/** A single network, or several that provide some of the stems each. */
export interface HTDemucsRecord extends CommonRecord {
  kind: 'htdemucs'
  networks: readonly {
    /** Name of the safetensors file next to the record. */
    file: string
    /** The constructor's keyword arguments, as `readHTDemucsConfig` takes them. */
    kwargs: Readonly<Record<string, unknown>>
    /** The stems that this network provides. */
    stems: readonly string[]
  }[]
}

/** A model whose tokenizer files are next to the record. */
export interface AudioSepRecord extends CommonRecord {
  kind: 'audiosep'
  /** Name of the safetensors file next to the record. */
  file: string
  /** Sample rate in hertz. */
  sampleRate: number
  /** How many attention heads the text encoder has. */
  textHeads: number
}

export interface RoformerRecord extends CommonRecord {
  kind: 'roformer'
  /** Name of the safetensors file next to the record. */
  file: string
  /** The .yaml that came with the checkpoint, as `readRoformerConfig` takes it. */
  configuration: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export interface SpleeterRecord extends CommonRecord {
  kind: 'spleeter'
  /** Name of the safetensors file next to the record. */
  file: string
  /** The configuration that its authors publish with it, as `readSpleeterConfig` takes it. */
  kwargs: Readonly<Record<string, unknown>>
}

export interface ScnetRecord extends CommonRecord {
  kind: 'scnet'
  /** Name of the safetensors file next to the record. */
  file: string
  /** The .yaml that came with the checkpoint, as `readScnetConfig` takes it. */
  configuration: RoformerRecord['configuration']
}

export type ModelRecord =
  HTDemucsRecord | AudioSepRecord | RoformerRecord | SpleeterRecord | ScnetRecord

/** Returns the names of the weight files next to the record. */
export const weightFilesOf = (record: ModelRecord): string[] =>
  record.kind === 'htdemucs' ? record.networks.map(({ file }) => file) : [record.file]

export const RECORD_FILE = 'model.json'

/** Checks the name of a model, which becomes a folder name. */
export const isModelName = (name: string): boolean => /^[a-z0-9][a-z0-9_.-]{0,39}$/.test(name)

export const KINDS = ['htdemucs', 'audiosep', 'roformer', 'spleeter', 'scnet'] as const

/** @throws Error naming the file if there is no record, or its format is not supported */
export function readRecord(folder: string): ModelRecord {
  const file = join(folder, RECORD_FILE)
  let record: ModelRecord
  try {
    record = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new Error(`${file}: can't be read as the record of a model`, { cause })
  }
  if (record.format === 1 && KINDS.includes(record.kind)) return record
  throw new Error(
    `${file}: has format ${record.format} and kind ${record.kind}; ` +
      `this version reads format 1 and ${KINDS.join(', ')}. Remove its folder, or run a version ` +
      'that reads it',
  )
}

/** Whether the folder contains the record of a model. */
export const isInstalled = (folder: string): boolean => existsSync(join(folder, RECORD_FILE))

/** Returns the folders of installed models by model name. */
export function installedFolders(modelsFolder: string): Map<string, string> {
  if (!existsSync(modelsFolder)) return new Map()
  const names = readdirSync(modelsFolder).filter(isModelName).sort()
  return new Map(
    names
      .map((name): [string, string] => [name, join(modelsFolder, name)])
      .filter(([, folder]) => isInstalled(folder)),
  )
}
