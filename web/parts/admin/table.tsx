import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

type Value = string | number | null

export interface Column<Row> {
  head: string
  /** The value to sort by; null comes last. Without it, the column can't be sorted. */
  by?(row: Row): Value
  /** What the cell shows; by default the value, or a dash for null. */
  cell?(row: Row): ComponentChildren
  /** Aligns the figures, and sorts the largest first. */
  isNumber?: boolean
}

/** Makes a column of figures; null is shown as a dash. */
export const numberColumn = <Row,>(
  head: string,
  by: (row: Row) => number | null,
  format = (value: number): string => value.toLocaleString(),
): Column<Row> => ({
  head,
  by,
  cell(row) {
    const value = by(row)
    return value === null ? '–' : format(value)
  },
  isNumber: true,
})

interface TableProps<Row> {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row, index: number): string
  /** Shown when there are no rows. */
  empty?: string
}

interface Order {
  head: string
  isDescending: boolean
}

/** A table that readers can sort; until then it keeps the order of the rows. */
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
              {columns.map(({ head, by, cell, isNumber }) => (
                <td key={head} class={isNumber ? 'number' : undefined}>
                  {cell ? cell(row) : (by?.(row) ?? '–')}
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
  /** Null unless the table is sorted by this column. */
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
