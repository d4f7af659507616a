import type { ComponentChildren } from 'preact'
import { CopyButton } from '../copy-button.tsx'

interface SecretProps {
  /** What it is the secret of. */
  name: string
  secret: string
  /** A note after the introduction. */
  children?: ComponentChildren
}

/** Shows a secret that the service returns only once. */
export const Secret = ({ name, secret, children }: SecretProps) => (
  <div class="secret" role="status">
    <p>
      The secret of {name}, shown only now.{children}
    </p>
    <p>
      <code>{secret}</code>
    </p>
    <CopyButton text={secret} />
  </div>
)
