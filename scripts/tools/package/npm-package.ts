/**
 * Makes dist/winnow-<version>.tgz for `npm install` or `npx`: each client command as one file, and
 * the sources of the service, which install their own dependencies from the lock file. If these
 * were dependencies of the package, npm would run their install scripts and ignore the lock file.
 */

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryBill } from '../licences/bill-of-materials.ts'
import { readParts } from '../licences/parts.ts'
import { layAddons } from './prebuilt.ts'
import { copyInto, layCommand, laySources, manifest, ROOT } from './sources.ts'

/** @returns the path of the package, from the root of the checkout */
export async function makeNpmPackage(): Promise<string> {
  const out = join(ROOT, 'dist/package')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  laySources(join(out, 'app'))
  layAddons(join(out, 'app/prebuilt'))
  await layCommand(out, 'npm-installation.mjs')
  const command = join(out, 'winnow.mjs')
  writeFileSync(command, `#!/usr/bin/env node\n${readFileSync(command, 'utf8')}`)
  chmodSync(command, 0o755)
  for (const file of ['README.md', 'LICENSE']) copyInto(out, file)
  const { name, version, description, license, engines } = manifest
  const { homepage, bugs, repository } = manifest
  const own = { name, version, description, license, type: 'module', engines }
  const places = { homepage, bugs, repository }
  const only = { os: ['linux'], cpu: ['x64'], bin: { winnow: 'winnow.mjs' } }
  writeFileSync(join(out, 'package.json'), JSON.stringify({ ...own, ...places, ...only }, null, 2))
  const words = ['pack', '--silent', './dist/package', '--pack-destination=dist']
  const packed = execFileSync('npm', words, { encoding: 'utf8', cwd: ROOT })
  const path = `dist/${packed.trim()}`
  const bill = JSON.stringify(repositoryBill(ROOT, readParts()), null, 2)
  writeFileSync(join(ROOT, path.replace(/tgz$/, 'cdx.json')), `${bill}\n`)
  return path
}
