/** The icon in the tab: the brand mark, or the progress of the open request. */

import type { Status } from '../../clients/typescript/client.ts'
import { BARS, LIFTED } from './brand.tsx'

const RADIUS = 11
const LENGTH = 2 * Math.PI * RADIUS

/** @param status of the open request; null if there is none */
export function showIcon(status: Status | null): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')!
  icon.href = `data:image/svg+xml,${encodeURIComponent(svgOf(status))}`
}

function svgOf(status: Status | null): string {
  const open = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 28 28">'
  return `${open}${status ? ringOf(status) : bars()}</svg>`
}

function bars(): string {
  const rects = BARS.map(([x, y, height], i) => {
    const [top, color] = i === LIFTED ? [y, '#e0a526'] : [y + 3, '#0c6350']
    return `<rect x="${x}" y="${top}" width="3" height="${height}" rx="1.5" fill="${color}"/>`
  })
  return rects.join('')
}

function ringOf({ status, progress = 0 }: Status): string {
  if (status === 'FAILED') return mark('#b3261e', 'M9 9l10 10M19 9L9 19')
  if (status === 'COMPLETED') return mark('#14713a', 'M8 14.5l4 4 8-9')
  const ring = `cx="14" cy="14" r="${RADIUS}" fill="none" stroke-width="5"`
  return (
    `<circle ${ring} stroke="#a8a9ab"/><circle ${ring} stroke="#0c6350" ` +
    `stroke-dasharray="${progress * LENGTH} ${LENGTH}" transform="rotate(-90 14 14)"/>`
  )
}

const mark = (color: string, path: string): string =>
  `<circle cx="14" cy="14" r="14" fill="${color}"/>` +
  `<path d="${path}" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/>`
