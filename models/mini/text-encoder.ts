/** Prompts to embeddings, with the latest ones remembered. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Tokenizer } from '@huggingface/tokenizers'
import { tf, type Tensor } from '../tensor.ts'
import { Weights } from '../weights.ts'
import { loadBert, type Bert } from './bert.ts'

/** The encoder was trained on texts of up to this many tokens; what follows is not heard. */
const TOKENS_MAX = 256
const REMEMBERED_MAX = 256

/** The form in which the model hears a prompt: lower case, with no final punctuation. */
export function modelPrompt(prompt: string): string {
  const text = prompt.normalize('NFC').trim().toLowerCase()
  return text.replace(/[\p{Terminal_Punctuation}…\s]+$/u, '')
}

export class TextEncoder {
  readonly #tokenizer: Tokenizer
  readonly #bert: Bert
  /** From the least to the most recently used. */
  readonly #remembered = new Map<string, Tensor>()

  private constructor(tokenizer: Tokenizer, bert: Bert) {
    this.#tokenizer = tokenizer
    this.#bert = bert
  }

  /** Loads `model.safetensors`, `tokenizer.json` and `tokenizer_config.json`. */
  static async load(folder: string): Promise<TextEncoder> {
    const json = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'))
    const names = ['tokenizer.json', 'tokenizer_config.json']
    const [tokenizer, config] = await Promise.all(names.map(json))
    const bert = loadBert(Weights.open(join(folder, 'model.safetensors')))
    return new TextEncoder(new Tokenizer(tokenizer, config), bert)
  }

  /** Token ids between the marks of beginning and end. */
  tokens(text: string): number[] {
    const { ids } = this.#tokenizer.encode(text)
    return ids.length > TOKENS_MAX ? [...ids.slice(0, TOKENS_MAX - 1), ids.at(-1)!] : ids
  }

  /** The embedding of a prompt, [1, EMBEDDING_DIM] of length 1; the caller frees it. */
  embed(prompt: string): Tensor {
    const text = modelPrompt(prompt)
    const embedding = this.#remembered.get(text) ?? this.#encode(text)
    this.#remembered.delete(text)
    this.#remembered.set(text, embedding)
    if (this.#remembered.size > REMEMBERED_MAX) this.#forgetOldest()
    return embedding.clone()
  }

  #encode(text: string): Tensor {
    return tf.tidy(() => {
      const ids = tf.tensor2d([this.tokens(text)], undefined, 'int32') // [1, length]
      return tf.keep(this.#bert.forward(ids, tf.onesLike(ids).cast('float32')))
    })
  }

  #forgetOldest(): void {
    const [oldest] = this.#remembered
    if (!oldest) return
    const [text, embedding] = oldest
    embedding.dispose()
    this.#remembered.delete(text)
  }
}
