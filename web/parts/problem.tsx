import type { ComponentChildren } from 'preact'

/** Announces what went wrong; invisible while it is empty. */
export const Problem = ({ children }: { children: ComponentChildren }) => (
  <p role="alert" class="problem">
    {children}
  </p>
)
