/** Makes bills of materials in CycloneDX. */

import { execFileSync } from 'node:child_process'
import type { Part, Parts } from './parts.ts'

export interface Bill {
  components: { purl?: string }[]
  [field: string]: unknown
}

/** Returns the bill of all that a checkout at `root` may install on any machine. */
export function repositoryBill(root: string, { bundled, wheels, others }: Parts): Bill {
  const words = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--omit=dev']
  const npmBill = JSON.parse(
    execFileSync('npm', words, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }),
  ) as Bill
  const urls = new Set(npmBill.components.map(({ purl }) => purl))
  const more = [...bundled, ...wheels, ...others].filter(({ url }) => !urls.has(url))
  return { ...npmBill, components: [...npmBill.components, ...more.map(component)] }
}

/** Makes the bill of a package or an image, which contains the wheels of one kind of machine. */
export function installationBill({ packages, wheels, others }: Parts, more: Part[] = []): Bill {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    components: [...packages, ...wheels, ...others, ...more].map(component),
  }
}

const component = ({ name, version, licence, url, sha256, integrity }: Part) => ({
  'bom-ref': url,
  type: 'library',
  name,
  version,
  purl: url,
  licenses: [{ license: { name: licence } }],
  ...(sha256 !== undefined && { hashes: [{ alg: 'SHA-256', content: sha256 }] }),
  ...(integrity !== undefined && { hashes: [{ alg: 'SHA-512', content: hexOf(integrity) }] }),
})

const hexOf = (integrity: string): string =>
  Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
