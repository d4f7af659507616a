/**
 * Reads the code blocks of the documents, with the comments before them that tell tests what to do.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export interface CodeBlock {
  /** Path of the document, from the root of the checkout. */
  page: string
  /** Line number of its first line of code. */
  line: number
  /** Its language; empty if the fence names none. */
  language: string
  code: string
  /** Why it can't run in a test, from the comment `not run: …` before it. */
  notRun: string | undefined
  /** Whether it shows the output of the previous block, from the comment `prints` before it. */
  isOutput: boolean
}

const FENCED = /(?:<!-- (?:not run: (.+)|(prints)) -->\n)?^```(.*)\n([\s\S]*?)^```$/gm

/** Reads the blocks of the README, of everything below docs/, and of the clients' READMEs. */
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
