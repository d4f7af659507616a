/**
 * A run of SAM-Audio's reference: a folder of models, and `golden/` with what it computed for them.
 */
import { join } from 'node:path'
import {
  findCheckpoint,
  findParts,
  type Part,
  type PartFolders,
} from '../../../models/sam-audio/checkpoint-folders.ts'
import type { GoldenFile } from './golden-file.ts'
import { GoldenFolder } from './golden-folder.ts'
import { inputsOf, type Inputs } from './inputs.ts'

export class Reference {
  readonly parts: PartFolders
  readonly inputs: Inputs
  readonly #golden: GoldenFolder

  private constructor(golden: GoldenFolder, inputs: Inputs, parts: PartFolders) {
    this.#golden = golden
    this.inputs = inputs
    this.parts = parts
  }

  /**
   * @throws Error when there is no manifest, its inputs are not as they must be, or it is not clear
   *   which folder is which part
   */
  static async open(folder: string): Promise<Reference> {
    const golden = await GoldenFolder.open(join(folder, 'golden'))
    const inputs = inputsOf(golden.manifestFile, golden.manifest.inputs)
    return new Reference(golden, inputs, await findParts(folder))
  }

  has(file: string): boolean {
    return this.#golden.has(file)
  }

  /** The folder of a part that a stage needs. */
  folderOf(part: Part): string {
    const folder = this.parts[part]
    if (!folder) throw new Error(`the reference has no folder for its ${part} part`)
    return folder
  }

  /** Reads a part's folder: its configuration, by `readConfig`, and its weights. */
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
    return this.#golden.golden(file)
  }

  /** As `GoldenFolder.untouched`. */
  get untouched(): GoldenFolder['untouched'] {
    return this.#golden.untouched
  }

  json<T>(file: string): Promise<T> {
    return this.#golden.json(file)
  }
}
