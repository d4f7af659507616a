/** Fetches the Node that packages contain: nodejs.org's own build, from the npm registry. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NODE_RUNTIME } from '../licences/parts.ts'

/**
 * Unpacks Node into `folder`: bin/node, its headers and its licence.
 * @throws Error if the registry's file is not the pinned one
 */
export function unpackNode(folder: string, pinned = NODE_RUNTIME): void {
  const { name, version, integrity } = pinned
  const place = mkdtempSync(join(tmpdir(), 'winnow-node-'))
  try {
    const words = ['pack', `${name}@${version}`, '--json', '--prefer-offline', '--loglevel=error']
    const text = execFileSync('npm', words, { cwd: place, encoding: 'utf8', maxBuffer: 2 ** 26 })
    const [packed] = JSON.parse(text) as { filename: string; integrity: string }[]
    if (packed?.integrity !== integrity) {
      throw new Error(`${name} ${version} is not what was pinned: ${packed?.integrity}`)
    }
    mkdirSync(folder, { recursive: true })
    const tarball = join(place, packed.filename)
    execFileSync('tar', ['--extract', '--file', tarball, '--strip=1', '--no-same-owner'], {
      cwd: folder,
    })
  } finally {
    rmSync(place, { recursive: true })
  }
}
