// As Debian's package and the image install it: the sources lie next to it, set up.

import { fileURLToPath } from 'node:url'

/** How it is called. */
export const CALLED = 'winnow'

export const MANIFEST = new URL('package.json', import.meta.url)

/** Services can be installed on this host from here. */
export const HAS_HOSTS = true

/** The tools of developers are in a checkout. */
export const MORE_PROGRAMS = {}

export const NOTE = `winnow install-host --role gateway|engine|all
                                        enables the services of this host (as root)

Data goes to DATA_DIR (default ./data). Documents are in /usr/share/doc/winnow.
`

/** @returns the folder of the sources */
export const prepareApp = () => fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, '')

/** Each client is one file. */
export const runClient = (command) => import(`./${command}.mjs`)
