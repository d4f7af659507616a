/** A certificate for `localhost` that has signed itself, so that it is who to trust as well. */

import { fileURLToPath } from 'node:url'

const path = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url))

export const TLS_FILES = { certificate: path('localhost'), key: path('localhost-key') }
