/** Lists of the admin API that come in pages. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Admin } from '../../state/admin.ts'
import { usePath } from './polled.ts'
import { Problem } from '../problem.tsx'

const ROWS = 50
const INTERVAL_MS = 2_000

interface PageOf<Row> {
  data: Row[]
  next_cursor: string | null
}

interface PagedProps<Row> {
  admin: Admin
  /** The list's name in the API, such as `requests`. */
  list: string
  filters: Readonly<Record<string, string>>
  children(rows: readonly Row[]): ComponentChildren
}

/** Shows one page, which is polled, and buttons to the others. */
export function Paged<Row>({ admin, list, filters, children }: PagedProps<Row>) {
  /** The cursors of the pages up to this one; the first page has none. */
  const [cursors, setCursors] = useState<readonly string[]>([])
  /** The page that was left for another one; it is shown until that one is there. */
  const [left, setLeft] = useState<PageOf<Row> | null>(null)
  const cursor = cursors.at(-1)
  const query = new URLSearchParams({ ...filters, limit: `${ROWS}`, ...(cursor && { cursor }) })
  const { data: page, problem } = usePath<PageOf<Row>>(admin, `${list}?${query}`, INTERVAL_MS)
  if (!page) return <p class="quiet">{problem || 'Loading…'}</p>
  const { next_cursor: next } = page
  const show = (others: readonly string[]) => {
    setLeft(page)
    setCursors(others)
  }
  return (
    <>
      <Problem>{problem}</Problem>
      {children(page.data)}
      {(cursor !== undefined || next !== null) && (
        <nav class="pages" aria-label="Pages">
          <button
            type="button"
            disabled={cursor === undefined}
            onClick={() => show(cursors.slice(0, -1))}
          >
            Newer
          </button>
          <span class="quiet">Page {cursors.length + 1}</span>
          <button
            type="button"
            disabled={next === null || page === left}
            onClick={() => show([...cursors, next!])}
          >
            Older
          </button>
        </nav>
      )}
    </>
  )
}
