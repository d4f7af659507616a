/** TensorFlow checkpoints, damaged and intact. */
import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openTensorFlowCheckpoint } from '../../../../models/checkpoint/tensorflow-checkpoint.ts'
import { openSpleeterCheckpoint } from '../../../../models/spleeter/checkpoint.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { fixtureFolder } from '../../../support/models/open-model.ts'

const TINY = join(fixtureFolder('spleeter'), 'model/tiny')

/** Copies the tiny checkpoint, with changes to the bytes of its index. */
function changedCopy(t: TestContext, change: (bytes: Buffer) => Buffer): string {
  const folder = temporaryFolder(t)
  const index = join(folder, 'model.index')
  writeFileSync(index, change(readFileSync(`${TINY}.index`)))
  copyFileSync(`${TINY}.data-00000-of-00001`, join(folder, 'model.data-00000-of-00001'))
  return index
}

test('a damaged TensorFlow checkpoint, or a different file, is refused by name', (t) => {
  const openChanged = (change: (bytes: Buffer) => Buffer) => () =>
    openTensorFlowCheckpoint(changedCopy(t, change))
  assert.throws(
    openChanged((bytes) => bytes.subarray(0, 40)),
    /model\.index: is not the index of a checkpoint of TensorFlow/,
  )
  assert.throws(
    openChanged((bytes) => bytes.fill(0xff, bytes.length - 48, bytes.length - 8)),
    /model\.index: is damaged/,
  )
  const index = changedCopy(t, (bytes) => bytes)
  writeFileSync(index.replace('.index', '.data-00000-of-00001'), 'short')
  assert.throws(() => openTensorFlowCheckpoint(index), /bytes 0 to \d+ are not within .*\.data-/)
  rmSync(index.replace('.index', '.data-00000-of-00001'))
  assert.throws(
    () => openTensorFlowCheckpoint(index),
    /\.data-00000-of-00001: is missing; .*model\.index needs it/,
  )
})

test('whichever byte of an index is wrong, the index is read, or refused by name', (t) => {
  const index = changedCopy(t, (bytes) => bytes)
  const whole = readFileSync(index)
  for (let at = 0; at < whole.length; at += 7) {
    const bytes = Buffer.from(whole)
    bytes[at] = bytes[at]! ^ 0xff
    writeFileSync(index, bytes)
    try {
      for (const tensor of openSpleeterCheckpoint(index).values()) tensor.values()
    } catch (error) {
      assert.match(String(error), /model\.(index|data)/, `byte ${at}`)
    }
  }
})
