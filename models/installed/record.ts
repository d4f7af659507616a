/** Models that an operator installed: a folder each, with weights and a record of their origin. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A file that an installed model was made of. */
export interface SourceFile {
  file: string
  /** The address it was fetched from; absent: it was imported. */
  url?: string
  sha256: string
  bytes: number
  /** True where a published checksum was compared. */
  verified: boolean
}

interface CommonRecord {
  /** Version of the record's layout. */
  format: 1
  name: string
  /** ISO 8601. */
  installedAt: string
  /** The licence of the weights as far as it is known, in sentences. */
  licence: string
  sources: readonly SourceFile[]
}

/** One network, or several that give some of the stems each. */
export interface HTDemucsRecord extends CommonRecord {
  kind: 'htdemucs'
  networks: readonly {
    /** Safetensors next to the record. */
    file: string
    /** The constructor's keyword arguments, as `readHTDemucsConfig` takes them. */
    kwargs: Readonly<Record<string, unknown>>
    /** The stems that are taken from this network. */
    stems: readonly string[]
  }[]
}

/** The tokenizer's files lie next to the record. */
export interface AudioSepRecord extends CommonRecord {
  kind: 'audiosep'
  /** Safetensors next to the record. */
  file: string
  /** Hertz. */
  sampleRate: number
  /** Heads of the text encoder's attention. */
  textHeads: number
}

export interface RoformerRecord extends CommonRecord {
  kind: 'roformer'
  /** Safetensors next to the record. */
  file: string
  /** The .yaml that came with the checkpoint, as `readRoformerConfig` takes it. */
  configuration: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export interface SpleeterRecord extends CommonRecord {
  kind: 'spleeter'
  /** Safetensors next to the record. */
  file: string
  /** The configuration that its authors publish with it, as `readSpleeterConfig` takes it. */
  kwargs: Readonly<Record<string, unknown>>
}

export interface ScnetRecord extends CommonRecord {
  kind: 'scnet'
  /** Safetensors next to the record. */
  file: string
  /** The .yaml that came with the checkpoint, as `readScnetConfig` takes it. */
  configuration: RoformerRecord['configuration']
}

export type ModelRecord =
  HTDemucsRecord | AudioSepRecord | RoformerRecord | SpleeterRecord | ScnetRecord

/** The names of the files with weights, next to the record. */
export const weightFilesOf = (record: ModelRecord): string[] =>
  record.kind === 'htdemucs' ? record.networks.map(({ file }) => file) : [record.file]

export const RECORD_FILE = 'model.json'

/** Limits the name of a model, which names a folder. */
export const isModelName = (name: string): boolean => /^[a-z0-9][a-z0-9_.-]{0,39}$/.test(name)

export const KINDS = ['htdemucs', 'audiosep', 'roformer', 'spleeter', 'scnet'] as const

/** @throws Error naming the file when there is no record, or it is not one that is read here */
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

/** Returns whether the folder has the record of a model. */
export const isInstalled = (folder: string): boolean => existsSync(join(folder, RECORD_FILE))

/** The folders of installed models, by name. */
export function installedFolders(modelsFolder: string): Map<string, string> {
  if (!existsSync(modelsFolder)) return new Map()
  const names = readdirSync(modelsFolder).filter(isModelName).sort()
  return new Map(
    names
      .map((name): [string, string] => [name, join(modelsFolder, name)])
      .filter(([, folder]) => isInstalled(folder)),
  )
}
