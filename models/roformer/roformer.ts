/** BS-RoFormer and Mel-Band RoFormer as an installed model. See `card.md`. */
import { join } from 'node:path'
import type { RoformerRecord } from '../installed/record.ts'
import { describeInstalled } from '../installed/describe.ts'
import type { Model } from '../model.ts'
import { fades } from '../lanes/chunk-weights.ts'
import { frameCount } from '../layers/framing.ts'
import { StemsModel } from '../lanes/stems-model.ts'
import { Weights } from '../checkpoint/weights.ts'
import { readRoformerConfig } from './config.ts'
import { loadNetwork } from './network/network.ts'

/** @throws Error naming the file if weights are missing, misshapen or unread */
export function loadRoformer(folder: string, record: RoformerRecord): Model {
  const config = readRoformerConfig(record.configuration)
  const { network, parameters } = Weights.read(join(folder, record.file), (weights) => ({
    network: loadNetwork(weights, config),
    parameters: weights.parameters,
  }))
  const { chunkSamples: samples, sampleRate, stems, audioChannels: width } = config
  const frames = frameCount(samples, config.hop, 0)
  const description = describeInstalled(record, {
    summary: 'RoFormer: takes stems out of songs, for GPUs or patient people.',
    answers: 'stems',
    stems,
    framesPerSecond: (frames * sampleRate) / samples,
    framesOnCpu: frames,
    sampleRate,
    chunkSecondsMax: samples / sampleRate,
    fixedChunks: { samples, hop: Math.floor(samples / config.overlaps) },
    joining: { kind: 'weighted', weights: fades(samples) },
    parameters,
  })
  return new StemsModel(description, [{ sources: stems, stems, ...network }], {
    width,
    samples,
    frames,
  })
}
