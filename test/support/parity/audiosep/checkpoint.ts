/** Opens the checkpoint of a reference run and its sizes, in `model/`. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isUsedTensor, openAudioSepCheckpoint } from '../../../../models/audiosep/checkpoint.ts'
import { readAudioSepConfig, type AudioSepConfig } from '../../../../models/audiosep/config.ts'
import { loadNetwork, type Network } from '../../../../models/audiosep/network/network.ts'
import { loadTextEncoder } from '../../../../models/audiosep/text.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import type { GoldenFolder } from '../golden-folder.ts'

export interface LoadedCheckpoint {
  config: AudioSepConfig
  network: Network
  text: ReturnType<typeof loadTextEncoder>
}

/** @throws Error naming weights that are missing, unused or of the wrong shape */
export async function openCheckpoint({ folder }: GoldenFolder): Promise<LoadedCheckpoint> {
  const model = join(folder, 'model')
  const name = (await readdir(model)).find((file) => file.endsWith('.ckpt'))
  if (!name) throw new Error(`${model}: has no checkpoint`)
  const sizes = JSON.parse(await readFile(join(model, 'sizes.json'), 'utf8'))
  const file = join(model, name)
  const tensors = [...openAudioSepCheckpoint(file)].filter(([tensor]) => isUsedTensor(tensor))
  const weights = Weights.of(file, new Map(tensors))
  const config = readAudioSepConfig(weights, {
    sampleRate: sizes.sampling_rate,
    textHeads: sizes.roberta.heads,
  })
  const network = loadNetwork(weights.at('ss_model'), config)
  const text = loadTextEncoder(weights.at('query_encoder').at('model'), config.text)
  weights.assertAllRead()
  return { config, network, text }
}
