/**
 * The API reference, drawn by Redoc. Served by a gateway, the page shows the description of that
 * gateway; elsewhere it shows the copy beside it.
 */

declare const Redoc: { init(description: object, options: object, element: Element | null): void }

const ADDRESSES = ['/v1/openapi.json', 'openapi.json']

/** Its own lighter colours are hard to read. */
const COLORS = { success: { main: '#14713a' }, error: { main: '#b3261e' } }
/** Its search needs a worker made of a string, which the policy of the site forbids. */
const OPTIONS = {
  disableSearch: true,
  nativeScrollbars: true,
  scrollYOffset: 'header',
  theme: { colors: COLORS },
}

void show()

async function show(): Promise<void> {
  for (const address of ADDRESSES) {
    const reply = await fetch(address)
    if (!reply.ok || !reply.headers.get('content-type')?.includes('json')) continue
    const description = (await reply.json()) as object
    return Redoc.init(description, OPTIONS, document.querySelector('#reference'))
  }
}
