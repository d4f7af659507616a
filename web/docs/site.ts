/** Adds search, copying and a menu on a phone to the pages of the documents. */

import MiniSearch, { type SearchResult } from 'minisearch'
import { SEARCH_OPTIONS } from './search-options.ts'

const FOUND_MAX = 12
const NARROW = '(max-width: 52rem)'

const indexAddress = new URL(
  (document.currentScript as HTMLScriptElement).dataset.index ?? '',
  document.baseURI,
)

addSearch()
addCopying()
foldMenu()

function addSearch(): void {
  const box = document.querySelector<HTMLElement>('.search')!
  const input = box.querySelector('input')!
  const list = box.querySelector('ul')!
  let index: Promise<MiniSearch> | undefined
  const search = async () => {
    const query = input.value.trim()
    index ??= fetch(indexAddress).then(async (reply) =>
      MiniSearch.loadJSON(await reply.text(), SEARCH_OPTIONS),
    )
    const results = query === '' ? [] : (await index).search(query)
    if (query !== input.value.trim()) return // another letter has been typed meanwhile
    list.replaceChildren(...results.slice(0, FOUND_MAX).map(foundItem))
    if (query !== '' && results.length === 0) list.append(itemOf('Nothing found.'))
    list.hidden = query === ''
  }
  box.hidden = false
  input.addEventListener('input', () => void search())
  box.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') list.hidden = true
  })
  box.addEventListener('focusout', ({ relatedTarget }) => {
    if (!box.contains(relatedTarget as Node | null)) list.hidden = true
  })
}

function foundItem({ id, title, page }: SearchResult): HTMLLIElement {
  const link = document.createElement('a')
  link.href = new URL(String(id), indexAddress).href
  link.textContent = String(title)
  const where = document.createElement('small')
  where.textContent = String(page)
  return itemOf(link, where)
}

function itemOf(...content: (Node | string)[]): HTMLLIElement {
  const item = document.createElement('li')
  item.append(...content)
  return item
}

function addCopying(): void {
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button')
    button.textContent = 'Copy'
    button.addEventListener('click', () => {
      const text = block.querySelector('code')?.textContent ?? ''
      navigator.clipboard.writeText(text).then(
        () => (button.textContent = 'Copied'),
        () => (button.textContent = 'Not allowed'),
      )
    })
    if (window.isSecureContext) block.append(button) // elsewhere there is no clipboard
  }
}

function foldMenu(): void {
  const menu = document.querySelector<HTMLDetailsElement>('nav details')!
  const narrow = matchMedia(NARROW)
  const isWide = menu.closest('.wide') !== null
  const fold = () => (menu.open = !narrow.matches && !isWide)
  narrow.addEventListener('change', fold)
  fold()
}
