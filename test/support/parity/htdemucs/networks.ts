/** Opens the networks of a reference run, `model/*.th`. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { openHTDemucsCheckpoint } from '../../../../models/htdemucs/checkpoint.ts'
import { readHTDemucsConfig, type HTDemucsConfig } from '../../../../models/htdemucs/config.ts'
import { loadNetwork, type Network } from '../../../../models/htdemucs/network/network.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import type { GoldenFolder } from '../golden-folder.ts'

export interface LoadedNetwork {
  config: HTDemucsConfig
  network: Network
}

/** Opens the run's first network, which made all goldens except those of the bag. */
export async function firstNetwork({ folder }: GoldenFolder): Promise<LoadedNetwork> {
  const [first] = await checkpointsOf(folder)
  if (!first) throw new Error(`${join(folder, 'model')}: has no checkpoint`)
  return openNetwork(first)
}

interface Bag {
  /** Each network and its weight for each stem. */
  members: readonly { checkpoint: string; weights: readonly number[] }[]
}

/** Reads the run's bag of networks from `model/bag.yaml`. */
export async function bagOf({ folder }: GoldenFolder): Promise<Bag> {
  const { models, weights } = parse(await readFile(join(folder, 'model/bag.yaml'), 'utf8'))
  const checkpoints = await checkpointsOf(folder)
  return {
    members: (models as string[]).map((signature, i) => {
      const checkpoint = checkpoints.find((file) => file.includes(`/${signature}-`))
      if (!checkpoint) throw new Error(`${join(folder, 'model')}: has no network ${signature}`)
      return { checkpoint, weights: weights[i] }
    }),
  }
}

export function openNetwork(file: string): LoadedNetwork {
  const { kwargs, tensors } = openHTDemucsCheckpoint(file)
  const config = readHTDemucsConfig(kwargs)
  const weights = Weights.of(file, tensors)
  const network = loadNetwork(weights, config)
  weights.assertAllRead()
  return { config, network }
}

async function checkpointsOf(folder: string): Promise<string[]> {
  const files = await readdir(join(folder, 'model'))
  return files
    .filter((file) => file.endsWith('.th'))
    .sort()
    .map((file) => join(folder, 'model', file))
}
