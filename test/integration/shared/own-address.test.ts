/** The address that a gateway leaves in its data folder. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { readOwnAddress, writeOwnAddress } from '../../../shared/own-address.ts'
import { temporaryFolder } from '../../support/basics/temporary-folder.ts'

const ADDRESS = 'http://127.0.0.1:4711'

test('the address of the running gateway is found, only by its own user, until the gateway exits', async (t) => {
  const folder = temporaryFolder(t)
  assert.equal(readOwnAddress(folder), undefined)
  assert.equal(readOwnAddress(join(folder, 'none')), undefined)
  const remove = await writeOwnAddress(folder, ADDRESS)
  assert.equal(readOwnAddress(folder), ADDRESS)
  assert.equal((await stat(join(folder, 'address'))).mode & 0o777, 0o600)
  assert.deepEqual(await readdir(folder), ['address'])
  await remove()
  assert.deepEqual(await readdir(folder), [])
})

test('the address of a killed gateway is not used', async (t) => {
  const folder = temporaryFolder(t)
  const { pid } = spawnSync('true') // has already exited
  const write = (text: string) => writeFile(join(folder, 'address'), text)
  await write(`${ADDRESS}\nprocess ${pid} on ${hostname()}\n`)
  assert.equal(readOwnAddress(folder), undefined)
  await write(`${ADDRESS}\nprocess ${pid} on another-container\n`)
  assert.equal(readOwnAddress(folder), ADDRESS, 'whose processes nobody sees here')
  for (const damaged of ['', 'http://127.0.0.1:47', `nothing\nprocess ${pid} on x\n`]) {
    await write(damaged)
    assert.equal(readOwnAddress(folder), undefined)
  }
})

test("a gateway that exits leaves its successor's address in place", async (t) => {
  const folder = temporaryFolder(t)
  const remove = await writeOwnAddress(folder, ADDRESS)
  await writeFile(join(folder, 'address'), `http://127.0.0.1:4712\nprocess 1 on ${hostname()}\n`)
  await remove()
  assert.equal(readOwnAddress(folder), 'http://127.0.0.1:4712')
})
