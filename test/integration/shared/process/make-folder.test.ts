/** Makes folders, and reports those that can't be made. */

import assert from 'node:assert/strict'
import { stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../../../../shared/process/make-folder.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'

test('a folder is made with its parents, and may exist already', async (t) => {
  const root = temporaryFolder(t)
  const path = join(root, 'a/b/c')
  await Promise.all([makeFolder(path, 0o700), makeFolder(path, 0o700)])
  for (const folder of [path, join(root, 'a')])
    assert.equal((await stat(folder)).mode & 0o777, 0o700)
  await symlink('a', join(root, 'link'))
  await makeFolder(join(root, 'link/d'))
  assert.ok((await stat(join(root, 'a/d'))).isDirectory())
})

test("a path that can't be a folder is an error, not a loop", { timeout: 10_000 }, async (t) => {
  const root = temporaryFolder(t)
  await symlink('/no/such/disk', join(root, 'unmounted'))
  await symlink('circle', join(root, 'circle'))
  await writeFile(join(root, 'file'), '')
  const wrong: [string, string][] = [
    ['/proc/none/logs', 'ENOENT'], // Node's own mkdir never returns here
    [join(root, 'unmounted'), 'ENOENT'],
    [join(root, 'unmounted/logs'), 'ENOENT'],
    [join(root, 'circle/logs'), 'ELOOP'],
    [join(root, 'file'), 'EEXIST'],
    [join(root, 'file/logs'), 'ENOTDIR'],
  ]
  for (const [path, code] of wrong) await assert.rejects(makeFolder(path), { code }, path)
})
