/**
 * Reads the code blocks of the documents, and the comments before them that tell tests what to do.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export interface CodeBlock {
  /** Path of the document, relative to the root of the checkout. */
  page: string
  /** Line number of the first line of code. */
  line: number
  /** Language after the fence; empty if there is none. */
  language: string
  code: string
  /** Why the block can't run in a test, from the comment `not run: …` before it. */
  notRun: string | undefined
  /**
   * Whether the block shows the output of the previous one, from the comment `prints` before it.
   */
  isOutput: boolean
}

const FENCED = /(?:<!-- (?:not run: (.+)|(prints)) -->\n)?^```(.*)\n([\s\S]*?)^```$/gm

/** Reads the blocks of the README, of all documents below docs/, and of the clients' READMEs. */
export function documentedBlocks(): CodeBlock[] {
  const below = readdirSync(join(ROOT, 'docs'), { recursive: true })
    .map((name) => join('docs', String(name)))
    .filter((path) => path.endsWith('.md'))
  const clients = ['typescript', 'python'].map((name) => `clients/${name}/README.md`)
  return ['README.md', ...below.sort(), ...clients].flatMap(blocksOf)
}

function blocksOf(page: string): CodeBlock[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(FENCED)].map((match) => {
    const [whole, notRun, prints, language = '', code = ''] = match
    const before = text.slice(0, match.index + whole.indexOf('```'))
    const line = before.split('\n').length + 1
    return { page, line, language, code, notRun, isOutput: prints !== undefined }
  })
}
