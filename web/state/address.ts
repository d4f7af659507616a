/**
 * The view that the address names, in its fragment: Back and Forward go from one to another, and a
 * view can be kept as a bookmark or sent to a colleague with a key.
 */

export type View = { kind: 'form' } | { kind: 'request'; id: string } | { kind: 'operators' }

const OPERATORS = '#operators'

/** What the fragment of the address says, such as `#request=…`. */
export const parameters = () => new URLSearchParams(location.hash.slice(1))

export function viewInAddress(): View {
  if (location.hash === OPERATORS) return { kind: 'operators' }
  const id = parameters().get('request')
  return id === null ? { kind: 'form' } : { kind: 'request', id }
}

/** Names the view; Back returns to the one before. */
export function nameView(view: View): void {
  const fragment = fragmentOf(view)
  if (fragment === location.hash) return
  history.pushState(null, '', fragment || location.pathname)
}

function fragmentOf(view: View): string {
  if (view.kind === 'request') return `#request=${view.id}`
  return view.kind === 'operators' ? OPERATORS : ''
}

/** Whether the address has what only a page that begins takes: a code, or a shared result. */
export const isForNewPage = (): boolean => /^#(.*&)?(code|operator|share)=/.test(location.hash)
