/**
 * Reads the results of a reference: files of tensors, and a MANIFEST.json with their tolerances.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Part } from '../../../models/sam-audio/checkpoint-folders.ts'
import type { Comparison } from './comparison.ts'
import { GoldenFile, type ManifestEntry } from './golden-file.ts'

export interface Manifest {
  /** The model and its size, in a sentence. */
  what?: string
  files: Readonly<Record<string, ManifestEntry>>
  /** For SCNet: whether the network normalizes the level of each chunk's spectrum. */
  normalize_spectrogram?: boolean
}

/** Compares a part of a model, or all of it, with what a folder has of its reference. */
export interface Stage<Folder extends GoldenFolder = GoldenFolder> {
  /** For SAM-Audio: the folders of models that the stage loads. */
  parts?: readonly Part[]
  /** The files that the stage compares with. */
  files: readonly string[]
  run(folder: Folder): Promise<Comparison[]>
}

const MANIFEST = 'MANIFEST.json'

export class GoldenFolder {
  readonly folder: string
  readonly manifest: Manifest
  readonly #opened = new Map<string, GoldenFile>()

  protected constructor(folder: string, manifest: Manifest) {
    this.folder = folder
    this.manifest = manifest
  }

  /** @throws Error if there is no manifest */
  static async open(folder: string): Promise<GoldenFolder> {
    return new GoldenFolder(folder, JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')))
  }

  static isOne(folder: string): boolean {
    return existsSync(join(folder, MANIFEST))
  }

  get manifestFile(): string {
    return join(this.folder, MANIFEST)
  }

  has(file: string): boolean {
    return existsSync(join(this.folder, file))
  }

  /** Returns what a stage needs and the folder lacks. */
  missingFor({ files }: Pick<Stage, 'parts' | 'files'>): string[] {
    return files.filter((file) => !this.has(file))
  }

  /** @throws Error naming the file if it is missing or invalid */
  golden(file: string): GoldenFile {
    const opened =
      this.#opened.get(file) ??
      new GoldenFile(join(this.folder, file), file, this.manifest.files[file] ?? {})
    this.#opened.set(file, opened)
    return opened
  }

  /** The tensors that no stage has used so far, by file. */
  get untouched(): readonly { file: string; names: readonly string[] }[] {
    return [...this.#opened]
      .map(([file, { untouched }]) => ({ file, names: untouched }))
      .filter(({ names }) => names.length > 0)
  }

  async json<T>(file: string): Promise<T> {
    return JSON.parse(await readFile(join(this.folder, file), 'utf8'))
  }
}
