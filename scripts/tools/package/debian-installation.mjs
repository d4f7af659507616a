// Describes the installation of the Debian package and the image: the sources are in this folder,
// already set up.

import { fileURLToPath } from 'node:url'

/** How users call the command. */
export const CALLED = 'winnow'

export const MANIFEST = new URL('package.json', import.meta.url)

/** Whether services can be installed on this host from here. */
export const HAS_HOSTS = true

/** Developers' tools exist only in a checkout. */
export const MORE_PROGRAMS = {}

export const NOTE = `winnow install-host --role gateway|engine|all
                                        enables the services of this host (as root)

Data goes to DATA_DIR (default ./data). Documents are in /usr/share/doc/winnow.
`

/** @returns the folder of the sources */
export const prepareApp = () => fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, '')

/** Runs a client command, which is bundled into a single file. */
export const runClient = (command) => import(`./${command}.mjs`)
