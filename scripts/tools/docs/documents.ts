/** Collects the files of the site, and gives each its address there. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize, posix } from 'node:path'

/** A Markdown document of the repository, which becomes a page of the site. */
export interface Document {
  /** Relative to the root of the repository. */
  path: string
  /** Relative to the root of the site, such as `how-to/podcast.html`. */
  address: string
  text: string
}

export interface Files {
  documents: Document[]
  /** Site address of each other file that a document links to, by its path. */
  copies: Map<string, string>
}

const LINK = /\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)\s]*)?\)/g
/** Files that a browser can show or play; others are published as text. */
const MEDIA = /\.(png|jpe?g|svg|mp3|wav)$/

/**
 * Collects everything below `docs/`, the README, and whatever they link to.
 * @param root the repository's folder
 * @throws Error if a link leads nowhere
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

/** For a folder without a README, makes up a page that lists its files. */
function readDocument(root: string, path: string): string {
  if (existsSync(join(root, path))) return readFileSync(join(root, path), 'utf8')
  const folder = dirname(path)
  const names = readdirSync(join(root, folder))
  return `# ${folder}\n\n${names.map((name) => `- [${name}](${name})\n`).join('')}`
}

const withoutCode = (text: string): string =>
  text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')

/**
 * Returns the path of the file that a link leads to; for a folder, that of its README, even if it
 * has none.
 * @param path of the document with the link
 */
export function targetOf(root: string, path: string, link: string): string {
  const target = normalize(join(dirname(path), decodeURI(link)))
  if (!existsSync(join(root, target))) throw new Error(`${path} links to ${link}: no such file`)
  return statSync(join(root, target)).isDirectory() ? join(target, 'README.md') : target
}

/** Returns the site address of a file of the repository. */
export function addressOf(path: string): string {
  if (path === 'README.md') return 'readme.html'
  const inSite = path.replace(/^docs\//, '')
  if (inSite.endsWith('README.md')) return inSite.replace(/README\.md$/, 'index.html')
  if (inSite.endsWith('.md')) return inSite.replace(/\.md$/, '.html')
  return MEDIA.test(inSite) ? inSite : `${inSite}.txt`
}

/** Returns the relative link between two pages, given their addresses. */
export const relativeLink = (from: string, to: string): string =>
  posix.relative(posix.dirname(from), to)
