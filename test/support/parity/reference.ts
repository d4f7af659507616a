/**
 * A run of SAM-Audio's reference: a folder of models, and `golden/` with what the run computed for
 * them.
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
   * @throws Error if there is no manifest, its inputs are invalid, or it is unclear which folder
   *   holds which part
   */
  static async open(folder: string): Promise<Reference> {
    const golden = await GoldenFolder.open(join(folder, 'golden'))
    const inputs = inputsOf(golden.manifestFile, golden.manifest.inputs)
    return new Reference(golden, inputs, await findParts(folder))
  }

  has(file: string): boolean {
    return this.#golden.has(file)
  }

  /**
   * Returns the folder of a part.
   * @throws Error if the reference has none
   */
  folderOf(part: Part): string {
    const folder = this.parts[part]
    if (!folder) throw new Error(`the reference has no folder for its ${part} part`)
    return folder
  }

  /** Reads the configuration of a part with `readConfig`, and finds its checkpoint. */
  async part<Config>(
    part: Part,
    readConfig: (file: string) => Promise<Config>,
  ): Promise<{ config: Config; checkpoint: string }> {
    const folder = this.folderOf(part)
    const config = await readConfig(join(folder, 'config.json'))
    return { config, checkpoint: await findCheckpoint(folder) }
  }

  /** @throws Error naming the file if it is missing or invalid */
  golden(file: string): GoldenFile {
    return this.#golden.golden(file)
  }

  /** See `GoldenFolder.untouched`. */
  get untouched(): GoldenFolder['untouched'] {
    return this.#golden.untouched
  }

  json<T>(file: string): Promise<T> {
    return this.#golden.json(file)
  }
}
