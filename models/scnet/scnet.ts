/**
 * SCNet as an installed model: separates drums, bass, vocals and the rest of a song. See `card.md`.
 */
import { join } from 'node:path'
import { fades, fadeSamples } from '../lanes/chunk-weights.ts'
import { Weights } from '../checkpoint/weights.ts'
import { describeInstalled } from '../installed/describe.ts'
import type { ScnetRecord } from '../installed/record.ts'
import type { Model } from '../model.ts'
import { StemsModel } from '../lanes/stems-model.ts'
import { readScnetConfig } from './config.ts'
import { loadNetwork } from './network/network.ts'
import { spectrumFrames } from './spectrum.ts'

/** @throws Error naming the file if weights are missing, misshapen or unread */
export function loadScnet(folder: string, record: ScnetRecord): Model {
  const config = readScnetConfig(record.configuration)
  const { network, parameters } = Weights.read(join(folder, record.file), (weights) => ({
    network: loadNetwork(weights, config),
    parameters: weights.parameters,
  }))
  const { chunkSamples: samples, sampleRate, sources, audioChannels: width, levelsSong } = config
  const frames = spectrumFrames(samples, config)
  const description = describeInstalled(record, {
    summary: 'SCNet: takes songs apart into stems.',
    answers: 'stems',
    stems: sources,
    framesPerSecond: (frames * sampleRate) / samples,
    framesOnCpu: frames,
    sampleRate,
    chunkSecondsMax: samples / sampleRate,
    // Neighbours share a fade; the reference begins a chunk four times within another's length.
    fixedChunks: { samples, hop: samples - fadeSamples(samples) },
    joining: { kind: 'weighted', weights: fades(samples) },
    parameters,
    ...(levelsSong && { needsLevels: true }),
  })
  return new StemsModel(description, [{ sources, stems: sources, ...network }], {
    width,
    samples,
    frames,
    shortAt: 'start',
    mirrorsShort: true,
    isLevelled: levelsSong,
  })
}
