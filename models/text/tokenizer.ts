/** Texts to the token ids of an encoder, by a folder's `tokenizer.json`. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Tokenizer } from '@huggingface/tokenizers'
import { loadCharsmap } from './charsmap.ts'
import { tf, type Tensor } from '../tensorflow/tensor.ts'

export interface TokenBatch {
  /** [batch, longest] int32. */
  ids: Tensor
  /** [batch, longest]: 1 for a token, 0 for padding. */
  valid: Tensor
}

export class TextTokenizer {
  readonly #tokenizer: Tokenizer
  readonly #tokensMax: number
  readonly #padding: number

  private constructor(tokenizer: Tokenizer, tokensMax: number, padding: number) {
    this.#tokenizer = tokenizer
    this.#tokensMax = tokensMax
    this.#padding = padding
  }

  /**
   * Reads `tokenizer.json`, and of `tokenizer_config.json` or else `config.json` what padding is.
   * @param tokensMax how many tokens the encoder takes at most, marks included
   * @throws Error naming the folder when neither names a padding
   */
  static async load(folder: string, tokensMax: number): Promise<TextTokenizer> {
    const json = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'))
    const jsonIfThere = (name: string) =>
      json(name).catch((error) => {
        if (error.code === 'ENOENT') return {}
        throw error
      })
    const [description, config, model] = await Promise.all([
      json('tokenizer.json'),
      jsonIfThere('tokenizer_config.json'),
      jsonIfThere('config.json'),
    ])
    const tokenizer = new Tokenizer(description, config)
    applyCharsmap(tokenizer, description.normalizer)
    const padding = tokenizer.token_to_id(contentOf(config.pad_token)) ?? paddingOf(model)
    if (padding === undefined) {
      throw new Error(
        `${folder}: the tokenizer has no padding: pad_token in ` +
          'tokenizer_config.json, or pad_token_id in config.json',
      )
    }
    return new TextTokenizer(tokenizer, tokensMax, padding)
  }

  /** Token ids with the marks of the encoder; of a text too long the end goes, but its mark. */
  tokens(text: string): number[] {
    const { ids } = this.#tokenizer.encode(text)
    if (ids.length <= this.#tokensMax) return ids
    return [...ids.slice(0, this.#tokensMax - 1), ids.at(-1)!]
  }

  /** Padded to the longest; the caller frees both tensors. */
  batch(texts: readonly string[]): TokenBatch {
    const rows = texts.map((text) => this.tokens(text))
    const longest = Math.max(...rows.map(({ length }) => length))
    const padded = rows.map((ids) =>
      Array.from({ length: longest }, (_, i) => ids[i] ?? this.#padding),
    )
    const valid = rows.map((ids) =>
      Array.from({ length: longest }, (_, i) => Number(i < ids.length)),
    )
    return {
      ids: tf.tensor2d(padded, [rows.length, longest], 'int32'),
      valid: tf.tensor2d(valid, [rows.length, longest], 'float32'),
    }
  }
}

/** A token is spelled as a text, or as an object with its text. */
const contentOf = (token: unknown): string =>
  String((token as { content?: unknown } | null | undefined)?.content ?? token)

/** In the configuration of an encoder, or of a network that has one as its `text_model`. */
function paddingOf({ pad_token_id: own, text_model: text }: Readonly<Record<string, unknown>>) {
  const id = own ?? (text as { pad_token_id?: unknown } | undefined)?.pad_token_id
  return Number.isSafeInteger(id) ? (id as number) : undefined
}

/**
 * The library normalises to NFKC where a tokenizer brings its own table, which differs: the table
 * keeps joiners, for one. So it is put in place of what the library made. And what splits the text
 * into words afterwards overlooks one character of white space, U+0085.
 */
function applyCharsmap(
  tokenizer: Tokenizer,
  normalizer: { type: string; precompiled_charsmap?: string } | null,
): void {
  if (normalizer?.type !== 'Precompiled' || !normalizer.precompiled_charsmap) return
  const replace = loadCharsmap(normalizer.precompiled_charsmap)
  const normalize = (text: string) => replace(text).replaceAll('\u0085', ' ')
  tokenizer.normalizer = normalize // it is only called
}
