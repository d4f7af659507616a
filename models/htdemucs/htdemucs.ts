/**
 * HTDemucs as an installed model: separates drums, bass, vocals and the rest of a song. See
 * `card.md`.
 */
import { join } from 'node:path'
import type { HTDemucsRecord } from '../installed/record.ts'
import { describeInstalled } from '../installed/describe.ts'
import type { Model } from '../model.ts'
import { triangle } from '../lanes/chunk-weights.ts'
import { StemsModel, type StemsNetwork } from '../lanes/stems-model.ts'
import { Weights } from '../checkpoint/weights.ts'
import { readHTDemucsConfig, type HTDemucsConfig } from './config.ts'
import { loadNetwork } from './network/network.ts'
import { spectrumFrames } from './spectrum.ts'

/** Share of a segment that overlaps the next, as in the reference's `apply_model`. */
const OVERLAP = 0.25

/** @throws Error naming the file if weights are missing, misshapen or unread */
export function loadHTDemucs(folder: string, record: HTDemucsRecord): Model {
  const loaded = record.networks.map(({ file, kwargs, stems }) => {
    const config = readHTDemucsConfig(kwargs)
    const { network, parameters } = Weights.read(join(folder, file), (weights) => ({
      network: loadNetwork(weights, config),
      parameters: weights.parameters,
    }))
    return { config, parameters, network: { sources: config.sources, stems, ...network } }
  })
  const { config } = loaded[0]!
  assertSameChunks(
    folder,
    loaded.map((one) => one.config),
  )
  const { segmentSamples: samples, sampleRate } = config
  const frames = spectrumFrames(samples, config.window)
  const networks: StemsNetwork[] = loaded.map(({ network }) => network)
  const description = describeInstalled(record, {
    summary: 'HTDemucs: takes songs apart into stems.',
    answers: 'stems',
    stems: [...new Set(networks.flatMap(({ stems }) => stems))],
    framesPerSecond: (frames * sampleRate) / samples,
    framesOnCpu: frames,
    sampleRate,
    chunkSecondsMax: samples / sampleRate,
    fixedChunks: { samples, hop: Math.floor((1 - OVERLAP) * samples) },
    joining: { kind: 'weighted', weights: triangle(samples) },
    parameters: loaded.reduce((sum, { parameters }) => sum + parameters, 0),
  })
  return new StemsModel(description, networks, { width: config.audioChannels, samples, frames })
}

/** Checks that the networks of a bag agree on their chunks, because they share them. */
function assertSameChunks(folder: string, configs: readonly HTDemucsConfig[]): void {
  const sizes = configs.map(({ sampleRate, segmentSamples, audioChannels }) =>
    [sampleRate, segmentSamples, audioChannels].join(),
  )
  if (new Set(sizes).size === 1) return
  throw new Error(`${folder}: its networks differ in rate, segment or channels`)
}
