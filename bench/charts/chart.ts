/** Charts as SVG text, drawn without a browser. */

import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'

const { document } = parseHTML('<!doctype html><body></body>')

/** Colours for readers with a dark page too: the chart brings its own ground. */
const STYLE = { background: 'white', color: '#222', fontFamily: 'sans-serif' }

/** @returns an `<svg>` element that stands by itself */
export function chart(title: string, options: Plot.PlotOptions): string {
  const drawn = Plot.plot({
    width: 720,
    height: 360,
    marginLeft: 60,
    marginBottom: 45,
    marginTop: 40,
    ...options,
    style: STYLE,
    document: document as unknown as NonNullable<Plot.PlotOptions['document']>,
    marks: [
      Plot.text([title], { frameAnchor: 'top', dy: -24, fontSize: 14, fontWeight: 'bold' }),
      ...(options.marks ?? []),
    ],
  })
  drawn.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  drawn.setAttribute('role', 'img')
  drawn.setAttribute('aria-label', title)
  return drawn.outerHTML
}
