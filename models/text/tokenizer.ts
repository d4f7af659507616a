/**
 * Converts texts to token ids, as described by the `tokenizer.json` in the folder of an encoder.
 */
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
   * Reads `tokenizer.json`, and the padding token from `tokenizer_config.json` or `config.json`.
   * @param tokensMax the most tokens that the encoder takes, including marks
   * @throws Error naming the folder if neither file names a padding token
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

  /**
   * Returns token ids with the marks of the encoder. If a text is too long, its end is cut but the
   * end mark stays.
   */
  tokens(text: string): number[] {
    const { ids } = this.#tokenizer.encode(text)
    if (ids.length <= this.#tokensMax) return ids
    return [...ids.slice(0, this.#tokensMax - 1), ids.at(-1)!]
  }

  /** Pads the texts to one length, a multiple of `step`. The caller frees both tensors. */
  batch(texts: readonly string[], step = 1): TokenBatch {
    const rows = texts.map((text) => this.tokens(text))
    const longest = step * Math.ceil(Math.max(...rows.map(({ length }) => length)) / step)
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

/** A token is given as a string, or as an object with its text. */
const contentOf = (token: unknown): string =>
  String((token as { content?: unknown } | null | undefined)?.content ?? token)

/** Reads the padding from an encoder's configuration, or from its `text_model`. */
function paddingOf({ pad_token_id: top, text_model: text }: Readonly<Record<string, unknown>>) {
  const id = top ?? (text as { pad_token_id?: unknown } | undefined)?.pad_token_id
  return Number.isSafeInteger(id) ? (id as number) : undefined
}

/**
 * The library normalises to NFKC even if a tokenizer has its own table, which differs: for example,
 * the table keeps joiners. So this installs the table instead, and mends the later split into
 * words, which overlooks one whitespace character, U+0085.
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
