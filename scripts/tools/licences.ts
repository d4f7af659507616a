/**
 * `winnow licences`: writes docs/reference/licences.md from the lock file and the lists of wheels.
 * `winnow licences --bom FILE`: also writes a bill of materials (CycloneDX 1.5).
 */

import { writeFileSync } from 'node:fs'
import { readOwnArgv, TEXT } from '../cli/command.ts'
import { repositoryBill } from './licences/bill-of-materials.ts'
import { licencesPage } from './licences/page.ts'
import { readParts } from './licences/parts.ts'

const { bom } = readOwnArgv({ bom: TEXT }).values
const parts = readParts()
writeFileSync('docs/reference/licences.md', licencesPage(parts))
if (bom !== undefined) {
  writeFileSync(bom, `${JSON.stringify(repositoryBill('.', parts), null, 2)}\n`)
}
