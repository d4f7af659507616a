/** Which files the site is made of, and where each of them lies in it. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize, posix } from 'node:path'

/** A document of the repository, which becomes a page. */
export interface Document {
  /** From the root of the repository. */
  path: string
  /** In the site, such as `how-to/podcast.html`. */
  address: string
  text: string
}

export interface Files {
  documents: Document[]
  /** Place in the site of each other file that a document links to, by its path. */
  copies: Map<string, string>
}

const LINK = /\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)\s]*)?\)/g
/** Files that a browser shows or plays as they are; others are copied as text. */
const MEDIA = /\.(png|jpe?g|svg|mp3|wav)$/

/**
 * Everything below `docs/`, the README, and whatever these link to.
 * @param root the repository's folder
 * @throws Error when a link leads nowhere
 */
export function collectFiles(root: string): Files {
  const waiting = ['README.md', ...documentsBelow(root, 'docs')]
  const files: Files = { documents: [], copies: new Map() }
  const seen = new Set<string>()
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (seen.has(path)) continue
    seen.add(path)
    if (!path.endsWith('.md')) {
      files.copies.set(path, addressOf(path))
      continue
    }
    const text = readDocument(root, path)
    files.documents.push({ path, address: addressOf(path), text })
    for (const [, link = ''] of withoutCode(text).matchAll(LINK)) {
      waiting.push(targetOf(root, path, link))
    }
  }
  return files
}

function documentsBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => path.endsWith('.md'))
    .sort()
}

/** A folder without a README is a page that lists its files. */
function readDocument(root: string, path: string): string {
  if (existsSync(join(root, path))) return readFileSync(join(root, path), 'utf8')
  const folder = dirname(path)
  const names = readdirSync(join(root, folder))
  return `# ${folder}\n\n${names.map((name) => `- [${name}](${name})\n`).join('')}`
}

const withoutCode = (text: string): string =>
  text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')

/**
 * The file that a link in a document means; of a folder, its README, whether there is one or not.
 * @param path of the document
 */
export function targetOf(root: string, path: string, link: string): string {
  const target = normalize(join(dirname(path), decodeURI(link)))
  if (!existsSync(join(root, target))) throw new Error(`${path} links to ${link}: no such file`)
  return statSync(join(root, target)).isDirectory() ? join(target, 'README.md') : target
}

/** Place in the site of a file of the repository. */
export function addressOf(path: string): string {
  if (path === 'README.md') return 'readme.html'
  const inSite = path.replace(/^docs\//, '')
  if (inSite.endsWith('README.md')) return inSite.replace(/README\.md$/, 'index.html')
  if (inSite.endsWith('.md')) return inSite.replace(/\.md$/, '.html')
  return MEDIA.test(inSite) ? inSite : `${inSite}.txt`
}

/** The way from one page to another, both by their addresses. */
export const relativeLink = (from: string, to: string): string =>
  posix.relative(posix.dirname(from), to)
