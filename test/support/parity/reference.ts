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
import { GoldenFolder, type Manifest, type Stage } from './golden-folder.ts'

export class Reference extends GoldenFolder {
  readonly parts: PartFolders

  private constructor(folder: string, manifest: Manifest, parts: PartFolders) {
    super(folder, manifest)
    this.parts = parts
  }

  /** @throws Error if there is no manifest, or if it is unclear which folder holds which part */
  static override async open(folder: string): Promise<Reference> {
    const golden = await GoldenFolder.open(join(folder, 'golden'))
    return new Reference(golden.folder, golden.manifest, await findParts(folder))
  }

  override missingFor(stage: Pick<Stage, 'parts' | 'files'>): string[] {
    const missing = stage.parts?.filter((part) => !this.parts[part]) ?? []
    return [...missing.map((part) => `the ${part} part`), ...super.missingFor(stage)]
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
}
