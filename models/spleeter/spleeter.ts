/** Spleeter as an installed model: separates a song's vocals and accompaniment (`card.md`). */
import { join } from 'node:path'
import type { SpleeterRecord } from '../installed/record.ts'
import { describeInstalled } from '../installed/describe.ts'
import type { Model } from '../model.ts'
import { StemsModel } from '../lanes/stems-model.ts'
import { Weights } from '../checkpoint/weights.ts'
import { HOPS_PER_WINDOW, readSpleeterConfig } from './config.ts'
import { CHANNELS, loadNetwork } from './network/network.ts'
import { segmentSamples } from './spectrum.ts'

/**
 * Frames shared by neighbouring chunks. The reference has no overlap, and a longer one gains
 * nothing.
 */
const OVERLAP_FRAMES = 8

/** @throws Error naming the file if weights are missing, misshapen or unread */
export function loadSpleeter(folder: string, record: SpleeterRecord): Model {
  const config = readSpleeterConfig(record.kwargs)
  const { network, parameters } = Weights.read(join(folder, record.file), (weights) => ({
    network: loadNetwork(weights, config),
    parameters: weights.parameters,
  }))
  const { stems, sampleRate, frames, window } = config
  const samples = segmentSamples(config)
  const description = describeInstalled(record, {
    summary: 'Spleeter: takes the vocals out of songs.',
    answers: 'stems',
    stems,
    framesPerSecond: (frames * sampleRate) / samples,
    framesOnCpu: frames,
    sampleRate,
    chunkSecondsMax: samples / sampleRate,
    fixedChunks: { samples, hop: samples - (OVERLAP_FRAMES * window) / HOPS_PER_WINDOW },
    joining: { kind: 'seam' },
    parameters,
  })
  return new StemsModel(description, [{ sources: stems, stems, ...network }], {
    width: CHANNELS,
    samples,
    frames,
    shortAt: 'start',
  })
}
