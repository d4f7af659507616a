/** Wraps the content of a page in the site's header and menu. */

import { relativeLink } from './documents.ts'
import type { NavigationSection } from './navigation.ts'

export interface Page {
  address: string
  title: string
  /** HTML of `<main>`. */
  content: string
  /** Addresses of the scripts that only this page loads. */
  scripts: readonly string[]
  /** Whether the page takes the full width, with the menu collapsed. */
  isWide: boolean
}

/** A gateway replaces this with a link back to its web page (gateway/routes/docs.ts). */
const WAY_BACK = '<!--way-back-->'

export function pageHtml(page: Page, navigation: readonly NavigationSection[]): string {
  const to = (address: string) => relativeLink(page.address, address)
  const scripts = page.scripts.map((script) => `<script defer src="${to(script)}"></script>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · Winnow</title>
<link rel="icon" href="data:,">
<link rel="license" href="${to('licences-of-the-site.txt')}">
<link rel="stylesheet" href="${to('site.css')}">
<script defer src="${to('site.js')}" data-index="${to('search.json')}"></script>
${scripts.join('\n')}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="brand" href="${to('index.html')}">Winnow</a>
${WAY_BACK}
<div class="search" role="search" hidden>
<input type="search" aria-label="Search the documents" placeholder="Search" aria-controls="found">
<ul id="found" hidden></ul>
</div>
</header>
<div class="columns${page.isWide ? ' wide' : ''}">
<nav aria-label="Documents"><details open><summary>Documents</summary>
${navigation.map((section) => navigationHtml(section, page.address, to)).join('\n')}
</details></nav>
<main id="main">
${page.content}
</main>
</div>
</body>
</html>
`
}

function navigationHtml(
  { title, entries }: NavigationSection,
  current: string,
  to: (address: string) => string,
): string {
  const items = entries.map(({ title, address }) => {
    const mark = address === current ? ' aria-current="page"' : ''
    return `<li><a href="${to(address)}"${mark}>${escapeHtml(title)}</a></li>`
  })
  return `<p>${escapeHtml(title)}</p>\n<ul>${items.join('')}</ul>`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '"': '&quot;' }

const escapeHtml = (text: string): string => text.replace(/[&<"]/g, (letter) => ENTITIES[letter]!)
