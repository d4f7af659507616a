/**
 * A run of the reference: a folder of models, and `golden/` with what it computed for them and a
 * MANIFEST.json that says how far from it is near enough.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  findCheckpoint,
  findParts,
  type Part,
  type PartFolders,
} from '../../models/sam-audio/checkpoint-folders.ts'
import { GoldenFile, type ManifestEntry } from './golden-file.ts'
import { inputsOf, type Inputs } from './inputs.ts'

interface Manifest {
  files: Readonly<Record<string, ManifestEntry>>
}

export class Reference {
  readonly parts: PartFolders
  readonly inputs: Inputs
  readonly #golden: string
  readonly #manifest: Manifest
  readonly #opened = new Map<string, GoldenFile>()

  private constructor(golden: string, manifest: Manifest, inputs: Inputs, parts: PartFolders) {
    this.#golden = golden
    this.#manifest = manifest
    this.inputs = inputs
    this.parts = parts
  }

  /**
   * @throws Error when there is no manifest, its inputs are not as they must be, or it is not clear
   *   which folder is which part
   */
  static async open(folder: string): Promise<Reference> {
    const golden = join(folder, 'golden')
    const file = join(golden, 'MANIFEST.json')
    const manifest = JSON.parse(await readFile(file, 'utf8'))
    const inputs = inputsOf(file, manifest.inputs)
    return new Reference(golden, manifest, inputs, await findParts(folder))
  }

  has(file: string): boolean {
    return existsSync(join(this.#golden, file))
  }

  /** The folder of a part that a stage needs. */
  folderOf(part: Part): string {
    const folder = this.parts[part]
    if (!folder) throw new Error(`the reference has no folder for its ${part} part`)
    return folder
  }

  /** What a part's folder holds: its configuration, as `readConfig` reads it, and its weights. */
  async part<Config>(
    part: Part,
    readConfig: (file: string) => Promise<Config>,
  ): Promise<{ config: Config; checkpoint: string }> {
    const folder = this.folderOf(part)
    const config = await readConfig(join(folder, 'config.json'))
    return { config, checkpoint: await findCheckpoint(folder) }
  }

  /** @throws Error naming the file when it is not there, or unsound */
  golden(file: string): GoldenFile {
    const opened =
      this.#opened.get(file) ??
      new GoldenFile(join(this.#golden, file), file, this.#manifest.files[file] ?? {})
    this.#opened.set(file, opened)
    return opened
  }

  /** By file, the tensors that no stage has looked at so far. */
  get untouched(): readonly { file: string; names: readonly string[] }[] {
    return [...this.#opened]
      .map(([file, { untouched }]) => ({ file, names: untouched }))
      .filter(({ names }) => names.length > 0)
  }

  async json<T>(file: string): Promise<T> {
    return JSON.parse(await readFile(join(this.#golden, file), 'utf8'))
  }
}
