import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { EngineModels } from '../../../engine/engine-models.ts'
import { RECORD_FILE, type ModelRecord } from '../../../models/installed/record.ts'
import { availableChoices, type ModelChoice } from '../../../models/model-choice.ts'
import { createLogger } from '../../../shared/telemetry/log.ts'
import { PLAIN_MODEL } from '../../support/models/plain-model.ts'

const log = createLogger('test', 'silent')

/**
 * Starts an engine's models in a folder, with fake computes that load whatever they are asked to.
 */
function start(t: TestContext, installed: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'engine-models-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const folders = { installed: folder, songs: join(folder, 'none') }
  const install = (name: string) => {
    mkdirSync(join(folder, name))
    const sources: ModelRecord['sources'] = []
    const record = { format: 1, name, kind: 'scnet', installedAt: '', licence: 'MIT', sources }
    writeFileSync(join(folder, name, RECORD_FILE), JSON.stringify({ ...record, file: 'weights' }))
    writeFileSync(join(folder, name, 'weights'), 'abc')
  }
  installed.forEach(install)
  const loadedNames = new Set(availableChoices(folders).map(({ name }) => name))
  const changes: number[] = []
  const computes = {
    get models() {
      return [...loadedNames].map((name) => ({
        description: descriptionOf(name),
        framesFitting: null,
      }))
    },
    load: async ({ name }: ModelChoice): Promise<void> => void loadedNames.add(name),
    canUnload: (name: string) => name !== 'mini',
    unload: async (name: string) => void loadedNames.delete(name),
  }
  const models: EngineModels = new EngineModels({
    folders,
    models: availableChoices(folders),
    namedModels: [],
    computes,
    log,
    onChange: () => void changes.push(models.version),
  })
  const names = () => models.descriptions.map(({ name }) => name)
  const states = () =>
    Object.fromEntries(models.list().map(({ name, state, problem }) => [name, problem || state]))
  return { models, computes, install, names, states, loadedNames, changes }
}

const descriptions = new Map<string, typeof PLAIN_MODEL>()

/** Returns the same object for the same name, as for a model that is loaded once. */
function descriptionOf(name: string): typeof PLAIN_MODEL {
  const description = descriptions.get(name) ?? { ...PLAIN_MODEL, name }
  descriptions.set(name, description)
  return description
}

test('a model that was installed meanwhile is loaded, once, at its place in the order', async (t) => {
  const { models, computes, install, names, states, changes } = start(t, ['htdemucs'])
  install('scnet-large')
  assert.deepEqual(states(), { 'scnet-large': 'NOT_LOADED', htdemucs: 'LOADED', mini: 'LOADED' })
  let loads = 0
  const { load } = computes
  computes.load = async (choice) => {
    loads += 1
    assert.equal(states()['scnet-large'], 'LOADING')
    await load(choice)
  }
  const loaded = await Promise.all([models.load('scnet-large'), models.load('scnet-large')])
  assert.deepEqual([loads, ...loaded.map(({ name }) => name)], [1, 'scnet-large', 'scnet-large'])
  assert.equal((await models.load('mini')).name, 'mini')
  assert.deepEqual(names(), ['scnet-large', 'htdemucs', 'mini'])
  assert.deepEqual(changes, [1])
  const scnet = models.list().find(({ name }) => name === 'scnet-large')
  assert.deepEqual([scnet?.kind, scnet?.bytes, scnet?.licence], ['scnet', 3, 'MIT'])
})

test("a model that can't be loaded is unavailable, and the list says why", async (t) => {
  const { models, computes, install, names, states } = start(t, [])
  install('scnet')
  await assert.rejects(models.load('flute'), { status: 'NOT_FOUND', message: /scnet, mini/ })
  const { load } = computes
  computes.load = () => Promise.reject(new Error('scnet needs 9.0 GB.'))
  await assert.rejects(models.load('scnet'), { status: 'FAILED_PRECONDITION', message: /9\.0 GB/ })
  assert.deepEqual(states(), { scnet: 'scnet needs 9.0 GB.', mini: 'LOADED' })
  computes.load = load
  await models.load('scnet')
  assert.deepEqual(names(), ['scnet', 'mini'])
  models.lost('scnet', new Error('Its process ended.'))
  assert.deepEqual(states(), { scnet: 'Its process ended.', mini: 'LOADED' })
  assert.deepEqual(names(), ['mini'])
})

test('a model is unloaded once the jobs that use it have ended, and no new ones get it', async (t) => {
  const { models, names, states, loadedNames } = start(t, ['htdemucs', 'scnet'])
  const used = models.use(['scnet'])
  models.use(['htdemucs'])
  let isUnloaded = false
  const unloading = models.unload('scnet').then(() => (isUnloaded = true))
  await new Promise(setImmediate)
  assert.deepEqual([names(), states().scnet], [['htdemucs', 'mini'], 'UNLOADING'])
  assert.deepEqual([isUnloaded, loadedNames.has('scnet')], [false, true])
  used()
  await unloading
  assert.deepEqual([loadedNames.has('scnet'), states().scnet], [false, 'NOT_LOADED'])
  await models.unload('scnet')
})

test('a model that is loaded again before its last jobs have ended stays', async (t) => {
  const { models, names, loadedNames } = start(t, ['scnet'])
  const used = models.use(['scnet'])
  const unloading = models.unload('scnet')
  await new Promise(setImmediate)
  await models.load('scnet')
  await assert.rejects(unloading, /loaded again/)
  used()
  assert.deepEqual([names(), loadedNames.has('scnet')], [['scnet', 'mini'], true])
})

test("models that came with Winnow, or that a device can't free, stay loaded", async (t) => {
  const { models, computes } = start(t, ['scnet'])
  await assert.rejects(models.unload('mini'), { status: 'FAILED_PRECONDITION', message: /stays/ })
  computes.canUnload = () => false
  await assert.rejects(models.unload('scnet'), /On a GPU scnet/)
  await assert.rejects(models.unload('flute'), { status: 'NOT_FOUND' })
})
