import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import test from 'node:test'
import { PAGE_FOLDERS } from '../../../../scripts/setup/built.mjs'

test('a change to whatever the page imports builds it again', () => {
  const files = readdirSync('web', { recursive: true, withFileTypes: true }).filter((entry) =>
    /\.tsx?$/.test(entry.name),
  )
  const imported = files.flatMap(({ parentPath, name }) =>
    [...readFileSync(join(parentPath, name), 'utf8').matchAll(/from '(\.[^']+)'/g)].map(
      ([, specifier]) => normalize(join(parentPath, specifier!)),
    ),
  )
  const others = imported.filter((path) => !PAGE_FOLDERS.some((folder) => path.startsWith(folder)))
  assert.ok(imported.length > 100)
  assert.deepEqual(others, [])
})
