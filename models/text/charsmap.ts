/**
 * The text normalisation that SentencePiece models include: a table of replacements, stored as a
 * trie over UTF-8 bytes (the double array of Darts-clone) and a string with all replacements.
 */

const GRAPHEMES = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Longer graphemes are looked up only character by character. */
const GRAPHEME_BYTES_MAX = 5

/**
 * Applies a `precompiled_charsmap` to a text like the Rust tokenizers: a grapheme, or otherwise
 * each of its characters, is replaced according to its shortest prefix in the table.
 * @throws Error if the table is damaged
 */
export function loadCharsmap(base64: string): (text: string) => string {
  const { trie, replacements } = readCharsmap(Buffer.from(base64, 'base64'))
  const replace = (text: string): string | undefined => {
    const start = firstMatch(trie, Buffer.from(text))
    return start === undefined ? undefined : textAt(replacements, start)
  }
  const replaceGrapheme = (grapheme: string): string => {
    const isShort = Buffer.byteLength(grapheme) <= GRAPHEME_BYTES_MAX
    const whole = isShort ? replace(grapheme) : undefined
    return whole ?? Array.from(grapheme, (character) => replace(character) ?? character).join('')
  }
  return (text) =>
    Array.from(GRAPHEMES.segment(text), ({ segment }) => replaceGrapheme(segment)).join('')
}

/**
 * Reads the trie, preceded by its length in bytes, and the replacements, each terminated by a zero.
 */
function readCharsmap(bytes: Buffer) {
  const trieBytes = bytes.length < 4 ? Infinity : bytes.readUInt32LE(0)
  if (trieBytes % 4 !== 0 || 4 + trieBytes > bytes.length) {
    throw new Error('the charsmap of the tokenizer is damaged')
  }
  const trie = new Uint32Array(trieBytes / 4)
  for (let i = 0; i < trie.length; i += 1) trie[i] = bytes.readUInt32LE(4 + 4 * i)
  return { trie, replacements: bytes.subarray(4 + trieBytes) }
}

/**
 * Returns the value of the shortest key that is a prefix of `bytes`. A zero byte is never part of a
 * key.
 */
function firstMatch(trie: Uint32Array, bytes: Uint8Array): number | undefined {
  let node = childrenOf(trie[0] ?? 0)
  for (const byte of bytes) {
    node ^= byte
    const unit = trie[node] ?? 0
    if (byte === 0 || labelOf(unit) !== byte) return undefined
    node ^= childrenOf(unit)
    if (endsKey(unit)) return (trie[node] ?? 0) & 0x7fffffff
  }
  return undefined
}

/** The offset from a node to its children, before their labels are added. */
const childrenOf = (unit: number): number => (unit >>> 10) << ((unit & 0x200) >>> 6)

/** The byte that leads to a node. Values have the highest bit set, so they never match. */
const labelOf = (unit: number): number => (unit & 0x800000ff) >>> 0

const endsKey = (unit: number): boolean => ((unit >>> 8) & 1) === 1

function textAt(replacements: Buffer, start: number): string {
  const end = replacements.indexOf(0, start)
  return replacements.toString('utf8', start, end < 0 ? undefined : end)
}
