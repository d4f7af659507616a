/** Makes the installation that packages contain: set up, with its own Node. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Compute } from './types.ts'
import { unpackNode } from './node-runtime.ts'
import { layCommand, laySources } from './sources.ts'

/** The installation's folder on a host. */
export const INSTALLED = '/usr/lib/winnow'
/** Its Node, relative to that folder. */
export const NODE = 'node/bin/node'

/** Files that only set-up needs, or that are for another libc. */
const FOR_SET_UP = [
  ...['node/include', 'node/share', 'node/README.md', 'node/CHANGELOG.md', 'node/package.json'],
  ...['.runtime/setup.lock', '.runtime/tensorflow/tensorflow/include'],
  '.runtime/text-encoder/.gitattributes',
  ...['binding', 'build', 'deps/include', 'scripts'].map(
    (name) => `node_modules/@tensorflow/tfjs-node-gpu/${name}`,
  ),
  'node_modules/better-sqlite3-node20', // the bundled Node is newer
  ...['better-sqlite3/deps', 'better-sqlite3/src', 'node-gyp', '.bin', 'koffi/cnoke.cjs'].map(
    (name) => `node_modules/${name}`,
  ),
  'node_modules/@koromix/koffi-linux-x64/musl_x64',
]
/**
 * Files in node_modules that are never run: for debuggers, type checkers, linters, compilers and
 * shells, backups, and pages.
 */
const NOT_RUN =
  /\.(map|d\.[cm]?ts|flow|gypi?|a|o|cc?|cpp|hp*|bat|cmd|sh|py|html)$|~$|^\.(git|npmi|eslintrc)/
/** The only executable in node_modules that is needed. */
const ESBUILD = 'node_modules/@esbuild/linux-x64/bin/esbuild'

/**
 * Creates the installation in `folder`, which must not exist. Takes some minutes and needs the
 * network.
 * @throws Error if set-up fails, which has then printed the reason
 */
export async function layInstallation(folder: string, compute: Compute): Promise<void> {
  laySources(folder)
  await layCommand(folder, 'debian-installation.mjs')
  unpackNode(join(folder, 'node'))
  const node = join(folder, NODE)
  const child = spawn(node, [join(folder, 'scripts/setup/setup.mjs')], {
    env: { ...process.env, WINNOW_COMPUTE: compute },
    stdio: ['ignore', 2, 2],
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`The set-up of the package ended with ${code}.`)
  trim(folder)
}

/** Removes what only set-up needs from an installation, and makes its files no programs. */
export function trim(folder: string): void {
  for (const path of FOR_SET_UP) rmSync(join(folder, path), { recursive: true, force: true })
  prune(join(folder, 'node_modules'))
  chmodSync(join(folder, ESBUILD), 0o755)
}

/**
 * Removes what is never run and prebuilt addons for other platforms, and the executable bit of
 * everything else.
 */
function prune(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    const isForeign = folder.endsWith('/prebuilds') && !entry.name.startsWith('linux-x64')
    if (isForeign || NOT_RUN.test(entry.name)) rmSync(path, { recursive: true })
    else if (entry.isDirectory()) prune(path)
    else if (entry.isFile()) chmodSync(path, 0o644)
  }
}
