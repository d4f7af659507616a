/** The forms in which SCNet checkpoints are published. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openScnetCheckpoint } from '../../../../models/scnet/checkpoint.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { op, tensorPickle, torchEntries } from '../../../support/models/torch-file.ts'
import { writeZip } from '../../../support/models/zip-file.ts'

const folder = temporaryFolder({ after })

const FIRST = 'encoder.0.SDlayer.convs.0.weight'
/** Each storage holds one number: its own index. */
const storages = [0, 1, 2].map((number) => ({
  type: 'FloatStorage',
  count: 1,
  data: new Uint8Array(Float32Array.of(number).buffer),
}))
const tensor = (storage: number) =>
  tensorPickle(storages, { storage, offset: 0, shape: [1], strides: [1] })
const dictionary = (items: Record<string, Buffer>) =>
  Buffer.concat([
    op.emptyDictionary(),
    op.mark(),
    ...Object.entries(items).flatMap(([name, value]) => [op.text(name), value]),
    op.setItems(),
  ])

/** @returns the names of the tensors, and the number of the first */
function read(items: Record<string, Buffer>) {
  const file = join(folder, 'model.th')
  const pickle = Buffer.concat([op.protocol(), dictionary(items), op.stop()])
  writeZip(file, torchEntries(pickle, storages))
  const tensors = openScnetCheckpoint(file)
  return [[...tensors.keys()], tensors.get(FIRST)!.values()[0]]
}

test('bare and wrapped tensors are read; the best state takes precedence over the last one', () => {
  const bare = (storage: number) => dictionary({ [FIRST]: tensor(storage) })
  const parallel = dictionary({ [`module.${FIRST}`]: tensor(2), 'module.more': tensor(0) })
  assert.deepEqual(read({ [FIRST]: tensor(1) }), [[FIRST], 1])
  assert.deepEqual(read({ state_dict: bare(1) }), [[FIRST], 1])
  assert.deepEqual(read({ state: bare(1), state_dict: bare(0) }), [[FIRST], 1])
  // as the author saves it, with other objects of Python next to them
  const score = Buffer.concat([op.global('numpy', 'float64'), op.emptyTuple(), op.reduce()])
  const own = { state: bare(1), best_nsdr: score, best_state: parallel, epoch: op.integer(3) }
  assert.deepEqual(read(own), [[FIRST, 'more'], 2])
})

test('a file of another network is refused by name', () => {
  assert.throws(() => read({ other: tensor(0) }), /model\.th: is not a checkpoint of SCNet/)
})
