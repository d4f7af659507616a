/** BS-RoFormer and Mel-Band RoFormer as an installed model. See `card.md`. */
import { join } from 'node:path'
import type { RoformerRecord } from '../installed/record.ts'
import { describeInstalled } from '../installed/describe.ts'
import type { Model } from '../model.ts'
import { frameCount } from '../framing.ts'
import { StemsModel } from '../stems-model.ts'
import { Weights } from '../checkpoint/weights.ts'
import { readRoformerConfig } from './config.ts'
import { loadNetwork } from './network/network.ts'

/** The chunk's part over which its weights rise and fall: as `demix` of the reference has them. */
const FADE_SHARE = 10

/** Weights are above 0: the first and the last sample of a song are in one chunk alone. */
const WEIGHT_MIN = 1e-4

/** @throws Error naming the file when weights are missing, misshapen or unread */
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
    framesOnProcessor: frames,
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

function fades(samples: number): Float32Array {
  const fade = Math.floor(samples / FADE_SHARE)
  return Float32Array.from({ length: samples }, (_, i) =>
    Math.max(WEIGHT_MIN, Math.min(1, i / (fade - 1), (samples - 1 - i) / (fade - 1))),
  )
}
