import assert from 'node:assert/strict'
import test from 'node:test'
import { ManyFilesWork } from '../../../../../scripts/cli/separate/many-files-work.ts'

test('the share that is done grows with every file, and gives the time left', () => {
  let now = 5_000
  const work = new ManyFilesWork(4, () => now)
  const files = [work.file(), work.file(), work.file(), work.file()]
  assert.deepEqual([work.part, work.ended, work.secondsLeft], [0, '0 of 4 files', undefined])
  files[0]!.show('uploading', 0)
  assert.equal(work.secondsLeft, undefined, 'nobody knows yet')
  now += 10_000
  files[0]!.show('uploading', 1)
  assert.equal(work.part, 0.1 / 4)
  files[0]!.show('waiting for a free engine, 2 ahead', 0)
  assert.equal(work.part, 0.1 / 4, 'waiting is no step back')
  files[0]!.show('separating', 1)
  files[0]!.show('downloading', 0)
  assert.deepEqual([work.part, work.ended], [0.25, '0 of 4 files'])
  assert.equal(work.secondsLeft, 30)
  files[0]!.stop()
  assert.deepEqual([work.part, work.ended], [0.25, '1 of 4 files'])
  files[1]!.stop()
  assert.deepEqual([work.part, work.ended], [1 / 3, '1 of 3 files'], 'it was there already')
  files[2]!.show('waiting', 0)
  files[2]!.stop()
  files[3]!.show('separating', 0.2)
  files[3]!.stop()
  assert.deepEqual([work.part, work.ended, work.secondsLeft], [1, '3 of 3 files', 0])
})

test('files that are all done already are no work', () => {
  const work = new ManyFilesWork(1)
  work.file().stop()
  assert.deepEqual([work.part, work.secondsLeft], [1, undefined])
})
