/** Bandit v2 as an installed model: speech, music and effects of a film. See `card.md`. */
import { join } from 'node:path'
import type { BanditRecord } from '../installed/record.ts'
import { describeInstalled } from '../installed/describe.ts'
import { triangle } from '../lanes/chunk-weights.ts'
import type { Model } from '../model.ts'
import { frameCount } from '../layers/framing.ts'
import { StemsModel } from '../lanes/stems-model.ts'
import { Weights } from '../checkpoint/weights.ts'
import { readBanditConfig } from './config.ts'
import { loadNetwork } from './network/network.ts'

/** As the reference cuts media. */
const CHUNK_SECONDS = 8
/** The reference has 7, and computes everything eight times. */
const OVERLAP_SECONDS = 2

/** @throws Error naming the file when weights are missing, misshapen or unread */
export function loadBandit(folder: string, record: BanditRecord): Model {
  const { config, network, parameters } = Weights.read(join(folder, record.file), (weights) => {
    const config = readBanditConfig(weights, record)
    return { config, network: loadNetwork(weights, config), parameters: weights.parameters }
  })
  const { sampleRate, stems, hop } = config
  const samples = CHUNK_SECONDS * sampleRate
  const frames = frameCount(samples, hop, 0)
  const description = describeInstalled(record, {
    summary: 'Bandit: takes the sound of films apart into speech, music and effects.',
    answers: 'stems',
    stems,
    framesPerSecond: frames / CHUNK_SECONDS,
    framesOnProcessor: frames,
    sampleRate,
    chunkSecondsMax: CHUNK_SECONDS,
    fixedChunks: { samples, hop: (CHUNK_SECONDS - OVERLAP_SECONDS) * sampleRate },
    joining: { kind: 'weighted', weights: triangle(samples) },
    parameters,
  })
  return new StemsModel(description, [{ sources: stems, stems, ...network }], {
    width: 1,
    samples,
    frames,
  })
}
