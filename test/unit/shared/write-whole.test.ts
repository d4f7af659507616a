import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { writeWhole } from '../../../shared/write-whole.ts'

test('a file is one of the texts at any time, and nothing else is left', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'write-whole-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'file')
  const texts = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(1_000_000))
  await writeWhole(path, texts[0]!, 0o600)
  let areWritten = false
  const writes = Promise.all(texts.map((text) => writeWhole(path, text, 0o600)))
  const end = writes.finally(() => (areWritten = true))
  while (!areWritten) assert.ok(texts.includes(await readFile(path, 'utf8')))
  await end
  const taken = join(folder, 'taken')
  await mkdir(taken)
  await assert.rejects(writeWhole(taken, 'text', 0o600), /EISDIR|EEXIST|ENOTEMPTY/)
  assert.deepEqual(await readdir(folder), ['file', 'taken'])
})
