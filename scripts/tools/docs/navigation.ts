/** Reads the site's menu from the lists of docs/README.md. */

import { addressOf, targetOf, type Document } from './documents.ts'

export interface NavigationSection {
  title: string
  entries: { title: string; address: string }[]
}

/** Every list item that begins with a link becomes an entry of the section above it. */
export function readNavigation(root: string, index: Document): NavigationSection[] {
  const sections: NavigationSection[] = []
  for (const line of index.text.split('\n')) {
    const [, heading] = /^## (.+)$/.exec(line) ?? []
    if (heading !== undefined) sections.push({ title: heading, entries: [] })
    const [, title, link] = /^- \[([^\]]+)\]\(([^)]+)\)/.exec(line) ?? []
    if (title === undefined || link === undefined) continue
    const address = addressOf(targetOf(root, index.path, link))
    sections.at(-1)?.entries.push({ title, address })
  }
  return sections
}
