/** The sizes of the network, from the `config.json` next to its weights. */
import { readFile } from 'node:fs/promises'
import type { Name } from './text/understand.ts'

export interface MiniConfig {
  /** Channels of the band stream. */
  bandDim: number
  /** Channels of the frame stream. */
  frameDim: number
  heads: number
  /** Channels per band in which the two streams exchange. */
  exchangeDim: number
  sharedBlocks: number
  conditionedBlocks: number
  /** The classes and groups of sounds that a prompt may mean. */
  names: readonly Name[]
  /** Size of the text code, and of the embedding that it is made from. */
  codeDim: number
  embeddingDim: number
  headDim: number
  /** Bins of each band. */
  bands: readonly number[]
  /** Level that the mixture is scaled to, as root mean square. */
  inputRms: number
}

/** Frames of the transform that make one token. */
export const PATCH = 2

const TRANSFORM = { sample_rate: 32_000, n_fft: 2048, hop: 512, patch: PATCH }

/** @throws Error naming the file when it describes another network than this folder's */
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
