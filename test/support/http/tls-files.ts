/** A self-signed certificate for `localhost`, which is also the one to trust. */

import { fileURLToPath } from 'node:url'

const path = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url))

export const TLS_FILES = { certificate: path('localhost'), key: path('localhost-key') }
