/** Texts to token ids, as the tokenizers of the reference make them. */
import { TextTokenizer } from '../../../models/tokenizer.ts'
import { compareExactly, type Comparison } from '../comparison.ts'
import type { Reference } from '../reference.ts'

const FILE = 'tokenization.json'

interface Case {
  text: string
  ids: number[]
}

interface Padded {
  texts: string[]
  input_ids: number[][]
  attention_mask: number[][]
}

interface Long {
  max_length: number
  ids: number[]
}

interface Tokenization {
  /** Beside these, `max_length_8` and the like are cases of so many tokens at most. */
  t5: { cases: Case[]; batch: Padded; long: Long & Case }
  /** Its long text is T5's. */
  modernbert: { cases: Case[]; batch: Padded; long: Long }
}

/** Of T5's tokenizer, and of those that the span predictor and the judge bring. */
export async function compareTokens(reference: Reference): Promise<Comparison[]> {
  const { t5, modernbert } = await reference.json<Tokenization>(FILE)
  const comparisons = await compareTokenizer('t5', reference.folderOf('text'), t5.cases, t5.batch,
    [t5.long, ...casesOfLength(t5)])
  for (const part of ['spans', 'judge'] as const) {
    const folder = reference.parts[part]
    if (!folder) continue
    const long = [{ ...modernbert.long, text: t5.long.text }]
    const { cases, batch } = modernbert
    comparisons.push(...await compareTokenizer(part, folder, cases, batch, long))
  }
  return comparisons
}

function casesOfLength(t5: object): (Long & Case)[] {
  return Object.entries(t5).flatMap(([key, entry]) => {
    const length = /^max_length_(\d+)$/.exec(key)?.[1]
    return length ? [{ ...(entry as Case), max_length: Number(length) }] : []
  })
}

async function compareTokenizer(
  name: string, folder: string, cases: readonly Case[], batch: Padded,
  long: readonly (Long & Case)[],
): Promise<Comparison[]> {
  const tokenizer = await TextTokenizer.load(folder, 512)
  const truncated = await Promise.all(long.map(async ({ max_length: most, text }) =>
    (await TextTokenizer.load(folder, most)).tokens(text)))
  const { ids, valid } = tokenizer.batch(batch.texts)
  const padded = [...ids.arraySync() as number[][], ...valid.arraySync() as number[][]]
  ids.dispose()
  valid.dispose()
  return [
    compareExactly(FILE, `${name} cases`, cases.map(({ text }) => tokenizer.tokens(text)),
      cases.map((each) => each.ids)),
    compareExactly(FILE, `${name} truncated`, truncated, long.map((each) => each.ids)),
    compareExactly(FILE, `${name} padded`, padded, [...batch.input_ids, ...batch.attention_mask]),
  ]
}
