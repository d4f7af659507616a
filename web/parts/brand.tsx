/** The mark: the bars of a waveform, one of which is lifted out of the others. */
export const BARS = [
  [3, 11, 6],
  [8, 8, 12],
  [13, 2, 15],
  [18, 9, 10],
  [23, 12, 4],
] as const

/** Index of the bar that is lifted out. */
export const LIFTED = 2

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 28 28" aria-hidden="true">
      {BARS.map(([x, y, height], i) => (
        <rect
          key={x}
          class={i === LIFTED ? 'lifted' : undefined}
          x={x}
          y={i === LIFTED ? y : y + 3}
          width="3"
          height={height}
          rx="1.5"
        />
      ))}
      <path d="M3 25.5h23" />
    </svg>
  )
}
