import type { ComponentChildren } from 'preact'

interface TableProps {
  caption: string
  heads: readonly string[]
  rows: readonly (readonly ComponentChildren[])[]
  /** Names of the rows, where these may come in another order. */
  keys?: readonly string[]
}

export function Table({ caption, heads, rows, keys }: TableProps) {
  return (
    <div class="table" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, i) => (
            <tr key={keys?.[i] ?? i}>
              {cells.map((cell, j) => (
                <td key={j}>{cell}</td>
              ))}
            </tr>
          ))}
          {rows.length === 0 && (
            <tr>
              <td colSpan={heads.length}>none</td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  )
}
