/** The page of known sounds lists the names in the weights that are served. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const read = (path: string) =>
  readFileSync(new URL(`../../../../models/mini/${path}`, import.meta.url), 'utf8')

test('sounds.md lists each known name once', () => {
  const { names } = JSON.parse(read('weights/config.json')) as { names: string[] }
  const page = read('sounds.md')
  const cells = [...page.matchAll(/^\| [A-Z][\w ]+ \| (.+) \|$/gm)].map(([, cell = '']) => cell)
  const [, groups = ''] = /^The groups: (.+)\.$/m.exec(page) ?? []
  const listed = [...cells, groups].flatMap((list) => list.split(', '))
  assert.deepEqual(listed.sort(), names.sort())
  assert.equal(cells.flatMap((cell) => cell.split(', ')).length, 110)
})
