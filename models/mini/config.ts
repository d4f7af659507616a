/** Reads the sizes of the network from the `config.json` next to its weights. */
import { readFile } from 'node:fs/promises'
import type { Name } from './text/understand.ts'

export interface MiniConfig {
  /** Channels of the band stream. */
  bandDim: number
  /** Channels of the frame stream. */
  frameDim: number
  heads: number
  /** Channels per band through which the two streams exchange information. */
  exchangeDim: number
  sharedBlocks: number
  conditionedBlocks: number
  /** The classes and groups of sounds that a prompt can mean. */
  names: readonly Name[]
  /** Size of the text code, and of the embedding that it is computed from. */
  codeDim: number
  embeddingDim: number
  headDim: number
  /** Bins in each band. */
  bands: readonly number[]
  /** The level that mixtures are scaled to, as root mean square. */
  inputRms: number
}

/** Frames of the transform in one token. */
export const PATCH = 2

const TRANSFORM = { sample_rate: 32_000, n_fft: 2048, hop: 512, patch: PATCH }

/** @throws Error naming the file if it describes a network other than this one */
export async function readConfig(file: string): Promise<MiniConfig> {
  const config = JSON.parse(await readFile(file, 'utf8'))
  for (const [name, value] of Object.entries(TRANSFORM)) {
    const setting = config[name]
    if (setting !== value) throw new Error(`${file}: ${name} must be ${value}, not ${setting}`)
  }
  const { model, bands, text, input_rms: inputRms } = config
  const names = model.names.map((key: string, i: number) => ({ key, text: config.names[i] }))
  return {
    bandDim: model.C,
    frameDim: model.D,
    heads: model.heads,
    exchangeDim: model.exchange,
    sharedBlocks: model.shared,
    conditionedBlocks: model.conditioned,
    names,
    codeDim: model.code,
    embeddingDim: text,
    headDim: model.head,
    bands,
    inputRms,
  }
}
