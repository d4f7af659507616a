/** Compares how prompts become conditions: the tokens, RoBERTa's layers, the projection. */
import { join } from 'node:path'
import { tokensMax } from '../../../../models/audiosep/text.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { TextTokenizer } from '../../../../models/text/tokenizer.ts'
import { compareExactly, withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFolder } from '../golden-folder.ts'
import { openCheckpoint } from './checkpoint.ts'

const FILE = 'text.safetensors'

export async function compareTexts(folder: GoldenFolder): Promise<Comparison[]> {
  const { text, config } = await openCheckpoint(folder)
  const tokenizer = await TextTokenizer.load(join(folder.folder, 'model'), tokensMax(config.text))
  const { texts, ids } = await folder.json<{ texts: string[]; ids: number[][] }>('tokens.json')
  const tokens = texts.map((prompt) => tokenizer.tokens(prompt))
  const golden = folder.golden(FILE)
  return withTidy(() => {
    const valid = golden.tensor('mask')
    const all = golden.tensor('ids')
    const hidden = text.encode(all, valid)
    const real = (x: Tensor) => x.mul(valid.expandDims(-1))
    const pooled = text.pool(hidden)
    const alone = texts.map((_, row) => {
      const length = ids[row]!.length
      const own = tf.slice(all, [row, 0], [1, length])
      const condition = text.forward(own, tf.onesLike(own))
      return golden.compareRow('text.embedding', row, condition, `text ${row} alone, unpadded`)
    })
    return [
      compareExactly('tokens.json', 'ids', tokens, ids),
      golden.compare('text.hidden.0', real(text.embed(all))),
      golden.compare('text.hidden.last', real(hidden)),
      golden.compare('text.pooler', pooled.clone()),
      golden.compare('text.projected', text.project(pooled)),
      golden.compare('text.embedding', text.forward(all, valid)),
      ...alone,
    ]
  })
}
