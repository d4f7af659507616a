import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

export interface Column<Row> {
  head: string
  cell(row: Row): ComponentChildren
  /** What the column is sorted by; null stands last. Absent: it can't be sorted. */
  by?(row: Row): string | number | null
  /** Its figures stand in line, and its first sort puts the greatest first. */
  isNumber?: boolean
}

interface TableProps<Row> {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row, index: number): string
  /** What is said in place of rows. */
  empty?: string
}

interface Order {
  head: string
  isDescending: boolean
}

/** A table that its reader can sort; in the order of the rows until then. */
export function Table<Row>({ caption, columns, rows, keyOf, empty = 'none' }: TableProps<Row>) {
  const [order, setOrder] = useState<Order | null>(null)
  const shown = order ? sorted(rows, columns, order) : rows
  const sort = ({ head, isNumber = false }: Column<Row>) =>
    setOrder({ head, isDescending: order?.head === head ? !order.isDescending : isNumber })
  return (
    <div class="table" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head
                key={column.head}
                column={column}
                order={order?.head === column.head ? order : null}
                sort={() => sort(column)}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, i) => (
            <tr key={keyOf(row, i)}>
              {columns.map(({ head, cell, isNumber }) => (
                <td key={head} class={isNumber ? 'number' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {rows.length === 0 && (
            <tr>
              <td class="quiet" colSpan={columns.length}>
                {empty}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  )
}

interface HeadProps<Row> {
  column: Column<Row>
  /** Null: another column gives the order. */
  order: Order | null
  sort(): void
}

function Head<Row>({ column: { head, by, isNumber }, order, sort }: HeadProps<Row>) {
  const ariaSort = order ? (order.isDescending ? 'descending' : 'ascending') : 'none'
  return (
    <th scope="col" class={isNumber ? 'number' : undefined} aria-sort={by ? ariaSort : undefined}>
      {by ? (
        <button type="button" class="sort" onClick={sort}>
          {head}
          <span aria-hidden="true">{order ? (order.isDescending ? ' ↓' : ' ↑') : ''}</span>
        </button>
      ) : (
        head
      )}
    </th>
  )
}

function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { head, isDescending }: Order,
): readonly Row[] {
  const by = columns.find((column) => column.head === head)?.by
  if (!by) return rows
  return rows.toSorted((first, second) => {
    const [a, b] = [by(first), by(second)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    const order = typeof a === 'number' && typeof b === 'number' ? a - b : compare(`${a}`, `${b}`)
    return isDescending ? -order : order
  })
}

const { compare } = new Intl.Collator(undefined, { numeric: true })
