/** A bill of materials in CycloneDX: npm's own, with what does not come from npm. */

import type { Part, Parts } from './parts.ts'

export interface Bill {
  components: { purl?: string }[]
  [field: string]: unknown
}

/** @param npmBill what `npm sbom` writes */
export function billOfMaterials(npmBill: Bill, { bundled, wheels, others }: Parts): Bill {
  const known = new Set(npmBill.components.map(({ purl }) => purl))
  const more = [...bundled, ...wheels, ...others].filter(({ url }) => !known.has(url))
  return { ...npmBill, components: [...npmBill.components, ...more.map(component)] }
}

const component = ({ name, version, licence, url, sha256 }: Part) => ({
  'bom-ref': url,
  type: 'library',
  name,
  version,
  purl: url,
  licenses: [{ license: { name: licence } }],
  ...(sha256 !== undefined && { hashes: [{ alg: 'SHA-256', content: sha256 }] }),
})
