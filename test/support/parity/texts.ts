/** Checks that the reference made its tokens from the texts of a batch. */
import { TOKENS_MAX } from '../../../models/sam-audio/config.ts'
import { TextTokenizer } from '../../../models/text/tokenizer.ts'
import { compareExactly, type Comparison } from './comparison.ts'
import type { Reference } from './reference.ts'

/**
 * Compares the tokens of each text with those in `file`, without their padding.
 * @param folder that has the tokenizer
 * @param texts as the manifest states them; if absent, nothing is compared
 */
export async function compareTexts(
  reference: Reference,
  file: string,
  folder: string,
  texts: readonly string[] | undefined,
): Promise<Comparison[]> {
  if (!texts) return []
  const golden = reference.golden(file)
  const tokenizer = await TextTokenizer.load(folder, TOKENS_MAX)
  const [rows, longest] = golden.shape('input_ids') as [number, number]
  const [ids, valid] = [golden.values('input_ids'), golden.values('attention_mask')]
  const stored = Array.from({ length: rows }, (_, row) =>
    [...ids.slice(row * longest, (row + 1) * longest)].filter((_, i) => valid[row * longest + i]),
  )
  const compared = compareExactly(
    file,
    'input_ids',
    texts.map((text) => tokenizer.tokens(text)),
    stored,
  )
  return [{ ...compared, against: "tokens of the manifest's texts" }]
}
