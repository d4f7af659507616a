/** A bill of materials in CycloneDX: npm's own, with what does not come from npm. */

import type { Part, Parts } from './parts.ts'

export interface Bill {
  components: object[]
  [field: string]: unknown
}

/** @param npmBill what `npm sbom` writes */
export function billOfMaterials(npmBill: Bill, { wheels, others }: Parts): Bill {
  return {
    ...npmBill,
    components: [...npmBill.components, ...[...wheels, ...others].map(component)],
  }
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
