/** Line drawings on a square of 24. */
const SHAPES = {
  play: 'M7 5v14l12-7z',
  pause: 'M8 5v14M16 5v14',
  loop: 'M17 3l4 4-4 4M21 7H6a3 3 0 0 0-3 3v2M7 21l-4-4 4-4M3 17h15a3 3 0 0 0 3-3v-2',
  volume: 'M4 9h4l5-4v14l-5-4H4zM16.5 9a4 4 0 0 1 0 6M19 6.5a8 8 0 0 1 0 11',
  zoomIn: 'M10 3a7 7 0 1 0 0 14a7 7 0 0 0 0-14zM15 15l6 6M7 10h6M10 7v6',
  zoomOut: 'M10 3a7 7 0 1 0 0 14a7 7 0 0 0 0-14zM15 15l6 6M7 10h6',
  spectrogram: 'M4 20v-4M4 12V9M9 20v-6M9 10V4M14 20v-8M14 8V5M19 20v-3M19 13v-4',
} as const

export type IconName = keyof typeof SHAPES

/** A decorative picture, because the button's name says the same in words. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={SHAPES[name]} />
  </svg>
)
