/** Encodes prompts as embeddings, and remembers the latest ones. */
import { join } from 'node:path'
import { modelPrompt } from '../../text/prompt.ts'
import { LruCache } from '../../lru-cache.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import { TextTokenizer } from '../../text/tokenizer.ts'
import { Weights } from '../../checkpoint/weights.ts'
import { loadBert, type Bert } from './bert.ts'

/** The encoder was trained on texts of at most this many tokens; longer ones are cut. */
export const TOKENS_MAX = 256
const REMEMBERED_MAX = 256
/** Texts are padded to a multiple of this, because the library keeps memory for every length. */
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

  /** Returns the embedding of a prompt, [1, EMBEDDING_DIM] of length 1, which the caller frees. */
  embed(prompt: string): Tensor {
    const text = modelPrompt(prompt)
    return this.#remembered.get(text, () => this.embedAll([text])).clone()
  }

  /**
   * Returns the embeddings of texts, [texts, EMBEDDING_DIM], in one batch, which the caller frees.
   */
  embedAll(texts: readonly string[]): Tensor {
    return tf.tidy(() => {
      const { ids, valid } = this.#tokenizer.batch(texts, BUCKET_TOKENS)
      return tf.keep(this.#bert.forward(ids, valid))
    })
  }
}
