/** Prompts to embeddings, with the latest ones remembered. */
import { join } from 'node:path'
import { modelPrompt } from '../../text/prompt.ts'
import { LruCache } from '../../lru-cache.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import { TextTokenizer } from '../../text/tokenizer.ts'
import { Weights } from '../../checkpoint/weights.ts'
import { loadBert, type Bert } from './bert.ts'

/** The encoder was trained on texts of up to this many tokens; what follows is cut off. */
const TOKENS_MAX = 256
const REMEMBERED_MAX = 256
/** Texts are padded to a multiple of so many tokens: for every length there is memory kept. */
const BUCKET_TOKENS = 16

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
    return this.#remembered.get(text, () => this.embedAll([text])).clone()
  }

  /** The embeddings of texts, [texts, EMBEDDING_DIM], in one batch; the caller frees them. */
  embedAll(texts: readonly string[]): Tensor {
    return tf.tidy(() => {
      const tokens = texts.map((text) => this.tokens(text))
      const longest = Math.max(...tokens.map(({ length }) => length))
      const padded = BUCKET_TOKENS * Math.ceil(longest / BUCKET_TOKENS)
      const rows = (valueOf: (own: number[], i: number) => number) =>
        tokens.map((own) => Array.from({ length: padded }, (_, i) => valueOf(own, i)))
      const shape: [number, number] = [texts.length, padded]
      const ids = tf.tensor2d(
        rows((own, i) => own[i] ?? 0),
        shape,
        'int32',
      )
      const valid = tf.tensor2d(
        rows((own, i) => Number(i < own.length)),
        shape,
      )
      return tf.keep(this.#bert.forward(ids, valid))
    })
  }
}
