/** A self-signed certificate for `localhost`, which clients also use as the authority to trust. */

import { fileURLToPath } from 'node:url'

const path = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url))

export const TLS_FILES = { certificate: path('localhost'), key: path('localhost-key') }
