/** Turns prompts into the flow network's input: tokens and T5's states. */
import { join } from 'node:path'
import { tf } from '../../tensorflow/tensor.ts'
import { TextTokenizer } from '../../text/tokenizer.ts'
import { Weights } from '../../checkpoint/weights.ts'
import { findCheckpoint } from '../checkpoint-folders.ts'
import { loadT5 } from './t5.ts'
import { readT5Config } from './t5-config.ts'

export type TextEncoder = Awaited<ReturnType<typeof loadTextEncoder>>

/**
 * Loads `config.json`, the weights, `tokenizer.json` and `tokenizer_config.json` of T5.
 * @param tokensMax how many tokens a prompt may have, including the end mark
 */
export async function loadTextEncoder(folder: string, tokensMax: number) {
  const tokenizer = await TextTokenizer.load(folder, tokensMax)
  const config = await readT5Config(join(folder, 'config.json'))
  const t5 = Weights.read(await findCheckpoint(folder), (weights) => loadT5(weights, config))

  /**
   * Returns `states` [batch, tokens, dim], which are meaningless for padding, and `valid` [batch,
   * tokens], which is 1 for a token and 0 for padding. The caller frees both.
   */
  const encode = (prompts: readonly string[]) => {
    const { ids, valid } = tokenizer.batch(prompts)
    const states = t5.forward(ids, valid)
    tf.dispose(ids)
    return { states, valid }
  }

  return { encode }
}
