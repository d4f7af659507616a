import assert from 'node:assert/strict'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { makeJobFolder, prepareScratch } from '../../../../engine/job/scratch.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'

test('leftovers of killed engines are removed; files of live ones and foreign files stay', async (t) => {
  const root = temporaryFolder(t)
  const scratch = join(root, 'scratch')
  await prepareScratch(scratch)
  const pidOfNobody = 2 ** 22 + 1 // Linux never assigns ids above 2^22
  for (const name of [`job-${pidOfNobody}-abc`, `job-${process.ppid}-def`, 'keep']) {
    await mkdir(join(scratch, name))
  }
  await prepareScratch(scratch)
  assert.deepEqual((await readdir(scratch)).sort(), [`job-${process.ppid}-def`, 'keep'])
  assert.match(await makeJobFolder(scratch), new RegExp(`/job-${process.pid}-`))
})
