/** Prompts to embeddings, with the latest ones remembered. */
import { join } from 'node:path'
import { modelPrompt } from '../../text/prompt.ts'
import { LruCache } from '../../lru-cache.ts'
import { tf, type Tensor } from '../../tensor.ts'
import { TextTokenizer } from '../../text/tokenizer.ts'
import { Weights } from '../../checkpoint/weights.ts'
import { loadBert, type Bert } from './bert.ts'

/** The encoder was trained on texts of up to this many tokens; what follows is cut off. */
const TOKENS_MAX = 256
const REMEMBERED_MAX = 256
/** Texts are padded to a multiple of so many tokens: for every length there is memory kept. */
const ROOM_TOKENS = 16

export class TextEncoder {
  readonly #tokenizer: TextTokenizer
  readonly #bert: Bert
  readonly #remembered = new LruCache<Tensor>(REMEMBERED_MAX, (embedding) => embedding.dispose())

  private constructor(tokenizer: TextTokenizer, bert: Bert) {
    this.#tokenizer = tokenizer
    this.#bert = bert
  }

  /** Loads `model.safetensors`, `tokenizer.json` and `tokenizer_config.json`. */
  static async load(folder: string): Promise<TextEncoder> {
    const tokenizer = await TextTokenizer.load(folder, TOKENS_MAX)
    const bert = Weights.read(join(folder, 'model.safetensors'), loadBert)
    return new TextEncoder(tokenizer, bert)
  }

  /** Token ids between the marks of beginning and end. */
  tokens(text: string): number[] {
    return this.#tokenizer.tokens(text)
  }

  /** The embedding of a prompt, [1, EMBEDDING_DIM] of length 1; the caller frees it. */
  embed(prompt: string): Tensor {
    const text = modelPrompt(prompt)
    return this.#remembered.get(text, () => this.#encode(text)).clone()
  }

  #encode(text: string): Tensor {
    return tf.tidy(() => {
      const tokens = this.tokens(text)
      const room = ROOM_TOKENS * Math.ceil(tokens.length / ROOM_TOKENS)
      const at = (valueOf: (i: number) => number) =>
        Array.from({ length: room }, (_, i) => valueOf(i))
      const ids = tf.tensor2d([at((i) => tokens[i] ?? 0)], [1, room], 'int32')
      const valid = tf.tensor2d([at((i) => Number(i < tokens.length))], [1, room])
      return tf.keep(this.#bert.forward(ids, valid))
    })
  }
}
