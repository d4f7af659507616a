/**
 * Makes the installation of an image out of the checkout that the Dockerfile has set up, which then
 * lacks what set-up made: image.ts FOLDER DEBIAN-PACKAGES.
 */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installationBill } from '../licences/bill-of-materials.ts'
import { debianParts, readParts } from '../licences/parts.ts'
import { trim } from './installation.ts'
import { layCommand, ROOT, SHIPPED } from './sources.ts'

const [folder = '', packages = ''] = process.argv.slice(2)
const compute = process.env.WINNOW_COMPUTE === 'cuda' ? 'cuda' : 'cpu'

execFileSync('npm', ['prune', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
  cwd: ROOT,
  stdio: 'inherit',
})
mkdirSync(folder, { recursive: true })
await layCommand(folder, 'debian-installation.mjs')
const parts = readParts({ folder: ROOT, compute })
const bill = installationBill(parts, debianParts(readFileSync(packages, 'utf8')))
writeFileSync(join(folder, 'winnow.cdx.json'), `${JSON.stringify(bill)}\n`)
for (const path of SHIPPED.filter((path) => !path.startsWith(':!'))) {
  cpSync(join(ROOT, path), join(folder, path), { recursive: true })
}
for (const path of SHIPPED.filter((path) => path.startsWith(':!'))) {
  rmSync(join(folder, path.slice(2)), { recursive: true, force: true })
}
for (const made of ['.runtime', 'node_modules']) renameSync(join(ROOT, made), join(folder, made))
trim(folder)
