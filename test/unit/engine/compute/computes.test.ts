import assert from 'node:assert/strict'
import test from 'node:test'
import { ComputeLostError } from '../../../../engine/compute/compute-errors.ts'
import type { Compute } from '../../../../engine/compute/compute.ts'
import { Computes, type ModelProcess } from '../../../../engine/compute/computes.ts'
import type { ModelChoice } from '../../../../models/model-choice.ts'
import { PLAIN_MODEL } from '../../../support/models/plain-model.ts'

const MINI: ModelChoice = { kind: 'mini', name: 'mini' }
const SCNET: ModelChoice = { kind: 'installed', name: 'scnet', folder: '/models/scnet' }

const loaded = (name: string) => ({ description: { ...PLAIN_MODEL, name }, framesFitting: null })

/** Makes the computes of an engine that has not loaded any model yet. */
function start(device: 'cpu' | 'gpu') {
  const stopped: string[] = []
  const fake = (name: string, models: string[]) => ({
    ready: { models: models.map(loaded), tagger: null, backend: '', device, warnings: [] },
    held: { graphs: 1, memoryBytes: 0, memoryPeakBytes: 0, residentBytes: 1e9 },
    busySeconds: 2,
    restarting: null,
    async load(choice: ModelChoice) {
      this.ready.models.push(loaded(choice.name))
    },
    stop: async () => void stopped.push(name),
  })
  let lose = (_: Error) => {}
  const free: (number | undefined)[] = []
  const computes = new Computes(
    fake('thread', []) as unknown as Compute,
    (choice) => choice === MINI,
    async ({ name }, onLost, freeBytes) => {
      lose = onLost
      free.push(freeBytes)
      return fake(name, [name]) as unknown as ModelProcess
    },
  )
  return { computes, stopped, free, lose: (error: Error) => lose(error) }
}

const NAMES = ({ models }: Computes) => models.map(({ description }) => description.name)

test('on a CPU an installed model has a process of its own, and mini uses the thread', async () => {
  const { computes, stopped, free } = start('cpu')
  await computes.load(MINI)
  await computes.load(SCNET)
  assert.deepEqual(NAMES(computes), ['mini', 'scnet'])
  assert.equal(computes.of('mini'), computes.thread)
  assert.notEqual(computes.of('scnet'), computes.thread)
  assert.ok(free[0]! > 0, 'it may take what is free')
  assert.deepEqual([computes.canUnload('mini'), computes.canUnload('scnet')], [false, true])
  assert.deepEqual([computes.held.graphs, computes.busySeconds], [2, 4])
  assert.ok(computes.memoryBytes > 1e9)
  await computes.unload('scnet')
  assert.deepEqual([stopped, NAMES(computes)], [['scnet'], ['mini']])
  assert.equal(computes.busySeconds, 4, 'a counter never goes down')
  assert.throws(() => computes.of('scnet'), ComputeLostError)
})

test('on a GPU all models share the thread', async () => {
  const { computes } = start('gpu')
  await computes.load(SCNET)
  assert.equal(computes.of('scnet'), computes.thread)
  assert.equal(computes.canUnload('scnet'), false)
})

test('a lost process is reported, and its model is gone', async () => {
  const { computes, lose } = start('cpu')
  const lost: string[] = []
  const ended: unknown[] = []
  computes.onLost = (model, { message }) => lost.push(`${model}: ${message}`)
  computes.onEnded = (process) => ended.push(process)
  await computes.load(SCNET)
  const process = computes.of('scnet')
  lose(new Error('gone'))
  assert.deepEqual([lost, NAMES(computes)], [['scnet: gone'], []])
  assert.deepEqual(ended, [process])
})
