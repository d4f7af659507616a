/** Moves the focus when the element that had it is gone. */

import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Nobody has lost it before there was any. */
let hadFocus = false
addEventListener('focusin', () => (hadFocus = true), { once: true })

/** Whoever uses keys or a screen reader would begin at the top of the page again. */
export function focusIfLost(element: HTMLElement | null): void {
  if (hadFocus && document.activeElement === document.body) element?.focus()
}

/** An element, such as a heading, that takes the focus which was lost with an earlier view. */
export function useLostFocus<Kind extends HTMLElement>(): RefObject<Kind | null> {
  const element = useRef<Kind>(null)
  useEffect(() => focusIfLost(element.current), [])
  return element
}
