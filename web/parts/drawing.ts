/** Loads wavesurfer.js, which is larger than the rest of the page, after the first paint. */

import { signal } from '@preact/signals'

/** The address of wavesurfer.ts, set by the build. */
declare const DRAWING: string

export type Drawing = typeof import('./wavesurfer.ts')

/** Null until it is loaded. */
export const drawing = signal<Drawing | null>(null)

export async function loadDrawing(): Promise<void> {
  drawing.value = (await import(DRAWING)) as Drawing
}
