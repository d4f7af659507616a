/** Opens the network of a reference run: `model/*.ckpt` and the .yaml next to it. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { openScnetCheckpoint } from '../../../../models/scnet/checkpoint.ts'
import { readScnetConfig, type ScnetConfig } from '../../../../models/scnet/config.ts'
import { loadNetwork, type Network } from '../../../../models/scnet/network/network.ts'
import { readYaml } from '../../../../engine/installing/read-yaml.ts'
import type { GoldenFolder } from '../golden-folder.ts'

export interface LoadedScnet {
  config: ScnetConfig
  network: Network
  /** How many of the reference's chunks cover a sample of a song. */
  overlaps: number
}

/**
 * @param levelsSpectrum whether to normalize the level of each chunk's spectrum; by default as the
 *   manifest states
 * @throws Error naming weights that are missing, unused or of the wrong shape
 */
export async function openScnet(
  { folder, manifest }: GoldenFolder,
  levelsSpectrum = manifest.normalize_spectrogram === true,
): Promise<LoadedScnet> {
  const files = await readdir(join(folder, 'model'))
  const findFile = (pattern: RegExp): string => {
    const file = files.find((name) => pattern.test(name))
    if (file === undefined) throw new Error(`${join(folder, 'model')}: has no ${pattern.source}`)
    return join(folder, 'model', file)
  }
  const file = findFile(/\.(ckpt|th|pt)$/)
  const yaml = await readYaml(findFile(/\.ya?ml$/))
  const config = { ...readScnetConfig(yaml), levelsSpectrum }
  const weights = Weights.of(file, openScnetCheckpoint(file))
  const network = loadNetwork(weights, config)
  weights.assertAllRead()
  return { config, network, overlaps: Number(yaml.inference?.num_overlap ?? 4) }
}
