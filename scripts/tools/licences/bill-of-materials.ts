/** Makes bills of materials in CycloneDX. */

import type { Part, Parts } from './parts.ts'

export interface Bill {
  components: { purl?: string }[]
  [field: string]: unknown
}

/** @param npmBill output of `npm sbom`, to which the other parts are added */
export function billOfMaterials(npmBill: Bill, { bundled, wheels, others }: Parts): Bill {
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

const component = ({ name, version, licence, url, sha256 }: Part) => ({
  'bom-ref': url,
  type: 'library',
  name,
  version,
  purl: url,
  licenses: [{ license: { name: licence } }],
  ...(sha256 !== undefined && { hashes: [{ alg: 'SHA-256', content: sha256 }] }),
})
