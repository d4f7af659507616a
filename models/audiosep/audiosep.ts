/** AudioSep as an installed model: separates any sound from a description. See `card.md`. */
import { join } from 'node:path'
import type { AudioSepRecord } from '../installed/record.ts'
import { describeInstalled } from '../installed/describe.ts'
import { LruCache } from '../lru-cache.ts'
import {
  assertChunk,
  type ChunkRequest,
  type Head,
  type HeadResult,
  type Lane,
  type Model,
  type ModelDescription,
} from '../model.ts'
import { ownPass, PassLane, resultsOf, stepTogether } from '../lanes/pass-lane.ts'
import { frameCount } from '../layers/framing.ts'
import { tf, type Tensor } from '../tensorflow/tensor.ts'
import { TextTokenizer } from '../text/tokenizer.ts'
import { Weights } from '../checkpoint/weights.ts'
import { readAudioSepConfig, type AudioSepConfig } from './config.ts'
import { loadNetwork, type Network } from './network/network.ts'
import { spectrumOf, wavesOf } from './spectrum.ts'
import { loadTextEncoder, tokensMax } from './text.ts'

/** Twice the length of the segments it was trained with. */
const CHUNK_SECONDS_MAX = 10
const OVERLAP_SECONDS_MAX = 2
const PROMPTS_REMEMBERED_MAX = 256

/** @throws Error naming the file if weights are missing, misshapen or unread */
export async function loadAudioSep(folder: string, record: AudioSepRecord): Promise<Model> {
  const { sampleRate, textHeads } = record
  const { parameters, ...parts } = Weights.read(join(folder, record.file), (weights) => {
    const config = readAudioSepConfig(weights, { sampleRate, textHeads })
    return {
      config,
      network: loadNetwork(weights.at('ss_model'), config),
      text: loadTextEncoder(weights.at('query_encoder').at('model'), config.text),
      parameters: weights.parameters,
    }
  })
  const tokenizer = await TextTokenizer.load(folder, tokensMax(parts.config.text))
  const framesPerSecond = sampleRate / parts.config.hop
  const description = describeInstalled(record, {
    summary: 'AudioSep: any sound by its description; not for stems of songs.',
    answers: 'text',
    stems: [],
    framesPerSecond,
    framesOnCpu: Math.ceil(CHUNK_SECONDS_MAX * framesPerSecond),
    sampleRate,
    chunkSecondsMax: CHUNK_SECONDS_MAX,
    overlapSecondsMax: OVERLAP_SECONDS_MAX,
    fixedChunks: null,
    joining: { kind: 'seam' },
    parameters,
  })
  return new AudioSep(description, { ...parts, tokenizer })
}

interface AudioSepParts {
  config: AudioSepConfig
  network: Network
  text: ReturnType<typeof loadTextEncoder>
  tokenizer: TextTokenizer
}

type AudioSepLane = PassLane<Network>

class AudioSep implements Model {
  readonly description: ModelDescription
  readonly warnings = []
  readonly #parts: AudioSepParts
  readonly #conditions = new LruCache<Tensor>(PROMPTS_REMEMBERED_MAX, (x) => x.dispose())
  readonly #prompts = new WeakMap<AudioSepLane, string>()

  constructor(description: ModelDescription, parts: AudioSepParts) {
    this.description = description
    this.#parts = parts
  }

  open(request: ChunkRequest, heads: readonly Head[]): Lane[] {
    const { chunk } = request
    const { sampleRate, chunkSecondsMax } = this.description
    const { config, network } = this.#parts
    assertChunk(chunk, sampleRate, chunkSecondsMax * sampleRate!)
    const samples = Math.max(chunk.channels[0]!.length, config.window)
    return heads.map(({ prompt }, i) => {
      const lane = new PassLane<Network>({
        request,
        heads: [i],
        passes: [{ network, outputs: [[0]] }],
        width: 1,
        samples,
        frames: frameCount(samples, config.hop, 0),
      })
      this.#prompts.set(lane, prompt)
      return lane
    })
  }

  step(lanes: readonly Lane[]): void {
    stepTogether(
      lanes.map((lane) => ownPass<Network>(lane)),
      (network, input, batch) => {
        const { config } = this.#parts
        const [rows, , samples] = input.shape as [number, number, number]
        const spectrum = spectrumOf(input.reshape([rows, samples]), config)
        const condition = tf.concat(batch.map((lane) => this.#condition(this.#prompts.get(lane)!)))
        const answer = network.forward(spectrum.magnitude, condition)
        return wavesOf(spectrum, answer, samples, config).reshape([rows, 1, 1, samples])
      },
    )
  }

  close(lane: Lane): HeadResult[] {
    return resultsOf(ownPass<Network>(lane), () => ({}))
  }

  /** Has nothing to free, because it holds nothing on the device between steps. */
  discard(): void {}

  /** Returns the condition [1, conditionDim], which is cached. */
  #condition(prompt: string): Tensor {
    const { text, tokenizer } = this.#parts
    return this.#conditions.get(prompt, () =>
      tf.tidy(() => {
        const { ids, valid } = tokenizer.batch([prompt])
        return tf.keep(text.forward(ids, valid))
      }),
    )
  }
}
