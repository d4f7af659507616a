/**
 * Renders a document as HTML: headings that can be linked to, links within the site, diagrams, and
 * audio players.
 */

import { renderMermaidSVG } from 'beautiful-mermaid'
import MarkdownIt from 'markdown-it'

export interface Section {
  /** The id of its heading; empty for the text before the first heading. */
  id: string
  title: string
  text: string
}

export interface RenderedPage {
  html: string
  title: string
  sections: Section[]
}

type Markdown = InstanceType<typeof MarkdownIt>
type Token = ReturnType<Markdown['parse']>[number]

const SOUND = /\.(mp3|wav)$/
/**
 * Code in these languages calls the service. Elsewhere the address is a default value, or the
 * upstream of a proxy.
 */
const CALLS_SERVICE = /^(sh|ts|python|json)\b/
const ADDRESS = 'http://127.0.0.1:8080'
/** A gateway replaces this with its own address (gateway/routes/docs.ts). */
const MARKED_ADDRESS = `<!--service-->${ADDRESS}<!--/service-->`
const DIAGRAM_COLOURS = {
  bg: 'var(--card)',
  fg: 'var(--ink)',
  line: 'var(--quiet)',
  accent: 'var(--accent)',
  muted: 'var(--quiet)',
  surface: 'var(--paper)',
  border: 'var(--line)',
  transparent: true,
}

/** @param linkTo maps a relative link of the document to one of the site */
export function renderDocument(text: string, linkTo: (link: string) => string): RenderedPage {
  const markdown = new MarkdownIt({ html: true })
  installFences(markdown)
  const tokens = markdown.parse(text, {})
  nameHeadings(tokens)
  for (const token of tokens.flatMap((token) => [token, ...(token.children ?? [])])) {
    replaceLink(token, linkTo)
  }
  for (const { children } of tokens) if (children) replaceSounds(children)
  const sections = sectionsOf(tokens)
  const html = markdown.renderer
    .render(tokens, markdown.options, {})
    .replaceAll('<th></th>', '<td></td>')
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
  return { html, title: sections.find(({ title }) => title !== '')?.title ?? '', sections }
}

function installFences(markdown: Markdown): void {
  const escape = markdown.utils.escapeHtml
  markdown.renderer.rules.fence = (tokens, i) => {
    const { info, content } = tokens[i]!
    if (info.trim() === 'mermaid') {
      return `<figure class="diagram" tabindex="0">${diagram(content)}</figure>\n`
    }
    const code = CALLS_SERVICE.test(info)
      ? escape(content).replaceAll(ADDRESS, MARKED_ADDRESS)
      : escape(content)
    return `<div class="code"><pre tabindex="0"><code>${code}</code></pre></div>\n`
  }
}

/**
 * The renderer imports a web font, which is removed because the site loads nothing from elsewhere.
 */
function diagram(source: string): string {
  return renderMermaidSVG(source, { ...DIAGRAM_COLOURS, font: 'system-ui' })
    .replace(/@import url\([^)]*\);/g, '')
    .replace('<svg ', '<svg role="img" aria-label="Diagram" ')
}

/** Gives headings the same ids as GitHub does, so that a link works in both places. */
function nameHeadings(tokens: readonly Token[]): void {
  const taken = new Map<string, number>()
  for (const [i, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue
    const slug = plainText(tokens[i + 1])
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = taken.get(slug) ?? 0
    taken.set(slug, count + 1)
    token.attrSet('id', count === 0 ? slug : `${slug}-${count}`)
  }
}

function replaceLink(token: Token, linkTo: (link: string) => string): void {
  const name = token.type === 'image' ? 'src' : 'href'
  const link = String(token.attrGet(name) ?? '#')
  if (/^([a-z]+:|#)/.test(link)) return
  token.attrSet(name, linkTo(link))
  if (name === 'src') token.attrSet('loading', 'lazy')
}

/** Replaces a link to a sound by a player; GitHub shows the link. */
function replaceSounds(children: Token[]): void {
  for (const [i, token] of children.entries()) {
    const source = token.type === 'link_open' ? String(token.attrGet('href')) : ''
    if (!SOUND.test(source)) continue
    const label = children[i + 1]!
    label.type = 'html_inline'
    label.content =
      `<span class="sound">${label.content}<audio controls preload="none" ` +
      `aria-label="${label.content}" src="${source}"></audio></span>`
    for (const bracket of [token, children[i + 2]!]) {
      bracket.type = 'text'
      bracket.content = ''
    }
  }
}

/** Splits the document into sections for the search: each heading, with the text below it. */
function sectionsOf(tokens: readonly Token[]): Section[] {
  const sections: Section[] = [{ id: '', title: '', text: '' }]
  for (const [i, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const title = plainText(tokens[i + 1])
      sections.push({ id: String(token.attrGet('id')), title, text: '' })
    } else if (tokens[i - 1]?.type !== 'heading_open') {
      sections.at(-1)!.text += `${plainText(token)} `
    }
  }
  return sections.filter(({ title, text }) => title !== '' || text.trim() !== '')
}

function plainText(token: Token | undefined): string {
  if (token === undefined) return ''
  if (token.children) return token.children.map(plainText).join('')
  return /^(text|code_inline|fence|code_block)$/.test(token.type) ? token.content : ''
}
