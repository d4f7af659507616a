/**
 * The API reference, drawn by Redoc. Served by a gateway, the page shows the description of that
 * gateway; elsewhere it shows the copy beside it.
 */

declare const Redoc: { init(description: object, options: object, element: Element): void }

const ADDRESSES = ['../../v1/openapi.json', 'openapi.json']

const element = document.querySelector<HTMLElement>('#reference')!

void show()
// Redoc computes with its colours, and takes them once.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => location.reload())

async function show(): Promise<void> {
  for (const address of ADDRESSES) {
    const reply = await fetch(address)
    if (!reply.ok || !reply.headers.get('content-type')?.includes('json')) continue
    const description = (await reply.json()) as object
    return Redoc.init(description, options(), element)
  }
}

/** Its search needs a worker made of a string, which the policy of the site forbids. */
const options = () => ({
  disableSearch: true,
  nativeScrollbars: true,
  scrollYOffset: 'header',
  theme: theme(),
})

/** A colour of site.css, as the scheme of the reader makes it. */
function colorOf(name: string): string {
  element.style.color = `var(--${name})`
  const { color } = getComputedStyle(element)
  element.style.color = ''
  return color
}

/** The colours and fonts of the site; Redoc's panel of samples is dark in either scheme. */
function theme() {
  const [paper, card, ink] = ['paper', 'card', 'ink'].map(colorOf)
  const [quiet, line, accent] = ['quiet', 'line', 'accent'].map(colorOf)
  const fontFamily = 'system-ui, sans-serif'
  return {
    colors: {
      primary: { main: accent },
      success: { main: colorOf('good') },
      error: { main: colorOf('bad') },
      text: { primary: ink, secondary: quiet },
      border: { dark: line, light: line },
      gray: { 50: paper, 100: paper },
      responses: { redirect: { color: accent } },
    },
    schema: { nestedBackground: paper, linesColor: line },
    sidebar: { backgroundColor: paper, textColor: ink },
    typography: {
      fontFamily,
      headings: { fontFamily, fontWeight: '700' },
      code: { fontFamily: 'ui-monospace, monospace', color: ink, backgroundColor: paper },
    },
    fab: { backgroundColor: card, color: accent },
    extensionsHook: (part: string) =>
      part === 'UnderlinedHeader' ? `color: ${quiet}; border-color: ${line};` : '',
  }
}
