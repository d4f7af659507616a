/** Moves the focus when the element that had it has been removed. */

import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Focus cannot be lost before anything had it. */
let hadFocus = false
addEventListener('focusin', () => (hadFocus = true), { once: true })

/**
 * Otherwise, people who use the keyboard or a screen reader would start at the top of the page
 * again.
 */
export function focusIfLost(element: HTMLElement | null): void {
  if (hadFocus && document.activeElement === document.body) element?.focus()
}

/**
 * Returns a ref for an element, such as a heading, that takes the focus if it was lost with an
 * earlier view.
 */
export function useLostFocus<Kind extends HTMLElement>(): RefObject<Kind | null> {
  const element = useRef<Kind>(null)
  useEffect(() => focusIfLost(element.current), [])
  return element
}
