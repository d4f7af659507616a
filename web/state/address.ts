/**
 * The view that the address names, in its fragment: Back and Forward go from one to another, and a
 * view can be kept as a bookmark or sent to a colleague with a key.
 */

import { signal } from '@preact/signals'

export const ADMIN_SECTIONS = [
  'work',
  'engines',
  'models',
  'accounts',
  'keys',
  'deliveries',
  'audit',
  'storage',
] as const

export type View =
  | { kind: 'form' }
  | { kind: 'request'; id: string }
  | { kind: 'developers' }
  /** A section of the admins' view, and how it is filtered. */
  | { kind: 'admin'; section: string; filters: Readonly<Record<string, string>> }

/** Whom the gateway serves this page to. Admins may have an address of their own. */
export const AUDIENCE = document.documentElement.dataset.audience as
  'clients' | 'admins' | undefined

const DEVELOPERS = '#/developers'

/** What the fragment of the address says, such as `#request=…`. */
export const parameters = () => new URLSearchParams(location.hash.slice(1))

export function viewInAddress(): View {
  const ofAdmins = /^#\/admin\/(\w*)\??(.*)$/.exec(location.hash)
  const [, section, query] = ofAdmins ?? (AUDIENCE === 'admins' ? ['', '', ''] : [])
  if (section !== undefined) {
    const filters = Object.fromEntries(new URLSearchParams(query))
    return { kind: 'admin', section: section || ADMIN_SECTIONS[0], filters }
  }
  if (location.hash === DEVELOPERS) return { kind: 'developers' }
  const id = parameters().get('request')
  return id === null ? { kind: 'form' } : { kind: 'request', id }
}

/** The view that is shown. */
export const view = signal(viewInAddress())

/** To be called when the address has changed. */
export const readAddress = (): View => (view.value = viewInAddress())

/** Names what the page does; who looks at the view of admins or developers stays there. */
export function nameView(next: View): void {
  if (['form', 'request'].includes(view.peek().kind)) goTo(next)
}

/** Shows the view; Back returns to the one before. */
export function goTo(next: View): void {
  const fragment = fragmentOf(next)
  if (fragment !== location.hash) history.pushState(null, '', fragment || location.pathname)
  readAddress()
}

/** Shows the form in place of a view that is not there, to which Back then does not return. */
export function replaceByForm(): void {
  history.replaceState(null, '', location.pathname)
  readAddress()
}

function fragmentOf(view: View): string {
  if (view.kind === 'request') return `#request=${view.id}`
  if (view.kind === 'developers') return DEVELOPERS
  return view.kind === 'admin' ? adminAddress(view.section, view.filters) : ''
}

/** The address of a section of the admins' view. */
export function adminAddress(section: string, filters: Readonly<Record<string, string>> = {}) {
  const query = new URLSearchParams(filters).toString()
  return `#/admin/${section}${query && `?${query}`}`
}

/** Whether the address has what only a page that begins takes: a code, or a shared result. */
export const isForNewPage = (): boolean =>
  /^#((.*&)?(code|admin|share)=|signed-in)/.test(location.hash)
