/** Compares token ids with those of the reference's tokenizers. */
import { TOKENS_MAX } from '../../../../models/sam-audio/config.ts'
import { TextTokenizer } from '../../../../models/text/tokenizer.ts'
import { compareExactly, withTidy, type Comparison } from '../comparison.ts'
import type { Reference } from '../reference.ts'

const FILE = 'tokenization.json'

interface Case {
  text: string
  ids: number[]
}

interface PaddedTokens {
  texts: string[]
  input_ids: number[][]
  attention_mask: number[][]
}

interface LongText {
  max_length: number
  ids: number[]
}

interface Tokenization {
  /** `t5` also has `max_length_8` and the like: cases limited to that many tokens. */
  t5: { cases: Case[]; batch: PaddedTokens; long: LongText & Case }
  /** The long text is T5's. */
  modernbert: { cases: Case[]; batch: PaddedTokens; long: LongText }
}

/** Compares T5's tokenizer, and those of the span predictor and the judge. */
export async function compareTokens(reference: Reference): Promise<Comparison[]> {
  const { t5, modernbert } = await reference.json<Tokenization>(FILE)
  const prepared = [
    await prepareTokenizer('t5', reference.folderOf('text'), {
      cases: t5.cases,
      batch: t5.batch,
      long: [t5.long, ...casesOfLength(t5)],
    }),
  ]
  for (const part of ['spans', 'judge'] as const) {
    const folder = reference.parts[part]
    if (!folder) continue
    const { cases, batch } = modernbert
    const long = [{ ...modernbert.long, text: t5.long.text }]
    prepared.push(await prepareTokenizer(part, folder, { cases, batch, long }))
  }
  return withTidy(() => prepared.flatMap((compare) => compare()))
}

function casesOfLength(t5: object): (LongText & Case)[] {
  return Object.entries(t5).flatMap(([key, entry]) => {
    const length = /^max_length_(\d+)$/.exec(key)?.[1]
    return length ? [{ ...(entry as Case), max_length: Number(length) }] : []
  })
}

interface Expected {
  cases: readonly Case[]
  batch: PaddedTokens
  long: readonly (LongText & Case)[]
}

async function prepareTokenizer(name: string, folder: string, { cases, batch, long }: Expected) {
  const tokenizer = await TextTokenizer.load(folder, TOKENS_MAX)
  const shorter = await Promise.all(
    long.map(({ max_length: most }) => TextTokenizer.load(folder, most)),
  )
  return (): Comparison[] => {
    const { ids, valid } = tokenizer.batch(batch.texts)
    const padded = [ids, valid].flatMap((tensor) => tensor.arraySync() as number[][])
    return [
      compareExactly(
        FILE,
        `${name} cases`,
        cases.map(({ text }) => tokenizer.tokens(text)),
        cases.map((each) => each.ids),
      ),
      compareExactly(
        FILE,
        `${name} truncated`,
        long.map(({ text }, i) => shorter[i]!.tokens(text)),
        long.map((each) => each.ids),
      ),
      compareExactly(FILE, `${name} padded`, padded, [...batch.input_ids, ...batch.attention_mask]),
    ]
  }
}
