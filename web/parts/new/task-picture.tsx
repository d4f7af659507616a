import type { ComponentChildren } from 'preact'

/** Line drawings on a canvas of 48 by 32, by the word of the task on the command line. */
const PICTURES: Readonly<Record<string, ComponentChildren>> = {
  anything: (
    <>
      <path d="M4 16v4M10 12v12M28 10v14M34 14v8M40 12v10M44 16v4" />
      <path class="lifted" d="M16 4v20M22 8v14" />
    </>
  ),
  speech: (
    <>
      <path
        class="lifted"
        d="M8 6h22a4 4 0 0 1 4 4v8a4 4 0 0 1-4 4H18l-6 6v-6H8a4 4 0 0 1-4-4v-8a4 4 0 0 1 4-4Z"
      />
      <path d="M40 8v2M44 14v2M40 20v2M44 26v1" />
    </>
  ),
  remove: (
    <>
      <path d="M4 16v4M10 10v14M22 14v8M34 8v16M40 12v10M44 16v4" />
      <path class="lifted dotted" d="M16 6v22M28 6v22" />
    </>
  ),
  song: (
    <>
      <path d="M16 8h28M16 16h28M16 24h28" />
      <path class="lifted" d="M22 8h8M28 16h12M18 24h6" />
      <path d="M9 22V8l-4 2" />
      <circle cx="6.5" cy="22" r="2.5" />
    </>
  ),
  dialogue: (
    <>
      <path d="M4 6h30v20H4ZM10 6v20M28 6v20M4 12h6M4 20h6M28 12h6M28 20h6" />
      <path class="lifted" d="M38 12a6 6 0 0 1 0 8M42 8a12 12 0 0 1 0 16" />
    </>
  ),
}

export function TaskPicture({ word = 'anything' }: { word?: string | undefined }) {
  return (
    <svg class="task-picture" viewBox="0 0 48 32" aria-hidden="true">
      {PICTURES[word]}
    </svg>
  )
}
