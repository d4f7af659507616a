import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { billOfMaterials } from '../../../../scripts/tools/licences/bill-of-materials.ts'
import { licencesPage } from '../../../../scripts/tools/licences/page.ts'
import { readParts } from '../../../../scripts/tools/licences/parts.ts'

test('docs/reference/licences.md names what is installed; `npm run winnow -- licences` writes it again', () => {
  assert.equal(readFileSync('docs/reference/licences.md', 'utf8'), licencesPage(readParts()))
})

test('the bill of materials holds what comes from elsewhere than npm, with hashes', () => {
  const bill = billOfMaterials({ components: [{ name: 'x' } as object] }, readParts())
  const components = bill.components as { name: string; hashes?: { content: string }[] }[]
  const tensorflow = components.find(({ name }) => name === 'tensorflow-cpu')
  assert.match(tensorflow?.hashes?.[0]?.content ?? '', /^[0-9a-f]{64}$/)
  assert.equal(components.filter(({ name }) => name === 'x').length, 1)
  for (const inScripts of ['preact', 'minisearch', 'redoc', 'react']) {
    assert.ok(
      components.some(({ name }) => name === inScripts),
      `${inScripts} stands in a script`,
    )
  }
})
