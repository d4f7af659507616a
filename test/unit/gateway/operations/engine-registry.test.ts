/** Engines that announce themselves: a few honest ones among thousands of fakes. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { engineConnector } from '../../../../gateway/operations/engine-address.ts'
import {
  ENGINES_MAX,
  EngineRegistry,
  FIRST_CALLS_MAX,
} from '../../../../gateway/operations/engine-registry.ts'
import type { EngineDescription } from '../../../../shared/engine-control.ts'
import { createLogger } from '../../../../shared/telemetry/log.ts'
import { FakeClock } from '../../../support/basics/fake-clock.ts'
import { NO_MODELS } from '../../../support/no-models.ts'

const FLOOD = 20_000

/**
 * Starts a registry; `real` gives the true address of each engine, and nobody answers at any other.
 */
function startRegistry(real: Readonly<Record<string, string>>) {
  const clock = new FakeClock()
  const engineAt = new Map(Object.entries(real).map(([id, address]) => [address, id]))
  const calls = { underWay: 0, most: 0, made: 0, open: 0 }
  const canceled: string[] = []
  const answer = async <T>(address: string, value: (engineId: string) => T): Promise<T> => {
    calls.made += 1
    calls.underWay += 1
    calls.most = Math.max(calls.most, calls.underWay)
    await nextRound()
    calls.underWay -= 1
    const engineId = engineAt.get(address)
    if (engineId === undefined) throw new Error('nobody answers')
    return value(engineId)
  }
  const registry = new EngineRegistry({
    clock,
    log: createLogger('gateway', 'silent'),
    connect: (address) => {
      calls.open += 1
      return {
        ...NO_MODELS,
        describe: () =>
          answer(address, (engineId) => ({ engine_id: engineId }) as EngineDescription),
        stats: () => Promise.reject(new Error('not asked for')),
        cancel: (requestId) => answer(address, (id) => canceled.push(`${id} ${requestId}`)),
        close: () => (calls.open -= 1),
      }
    },
  })
  const announce = (
    engineId: string,
    address = real[engineId] ?? `10.0.0.1:${engineId}`,
    models_version = 0,
  ) => registry.announced({ engine_id: engineId, control_address: address, models_version })
  const engineIds = async () => (await registry.describe()).map((engine) => engine.engine_id)
  /** Resolves once no engine is being called for the first time. */
  const settled = async () => {
    for (let callsBefore = -1; callsBefore !== calls.made; await nextRound()) {
      callsBefore = calls.made
      for (let i = 0; i < 10; i += 1) await nextRound()
    }
  }
  return { registry, clock, calls, canceled, announce, engineIds, settled, engineAt }
}

test('20,000 fake engines are called a few at a time, forgotten, and hide no real one', async () => {
  const { registry, clock, calls, canceled, announce, engineIds, settled } = startRegistry({
    first: '10.0.0.2:1',
    later: '10.0.0.2:2',
  })
  announce('first')
  assert.deepEqual(await engineIds(), ['first'])
  for (let i = 0; i < FLOOD; i += 1) {
    announce(String(i))
    announce('first', `10.0.0.3:${i}`) // a false address
    announce(`alias-${i}`, '10.0.0.2:1')
  }
  assert.equal(registry.engines, ENGINES_MAX)
  assert.ok(calls.made < FLOOD / 100, 'an announcement alone is not answered by a call')
  assert.deepEqual(await engineIds(), ['first'])
  await registry.cancel('first', 'r1')
  await settled()
  assert.ok(calls.most <= FIRST_CALLS_MAX + 2, `${calls.most} calls at once`)
  assert.equal(calls.open, 1, 'of those that do not answer no connection is kept')
  announce('later')
  assert.deepEqual((await engineIds()).sort(), ['first', 'later'])
  await registry.cancel('later', 'r2')
  assert.deepEqual(canceled, ['first r1', 'later r2'])
  clock.advance(15_001)
  announce('first')
  assert.equal(registry.engines, 1)
})

test('an engine that has moved is found at its new place, once it fails at the old one', async () => {
  const { clock, announce, engineIds, settled, engineAt } = startRegistry({ e: '10.0.0.2:1' })
  announce('e')
  assert.deepEqual(await engineIds(), ['e'])
  engineAt.clear()
  engineAt.set('10.0.0.2:9', 'e')
  clock.advance(10_000)
  announce('e', '10.0.0.2:9') // makes the registry ask at the old address
  await settled()
  announce('e', '10.0.0.2:9')
  assert.deepEqual(await engineIds(), ['e'])
})

test('only addresses in ENGINE_NETWORKS are called', async () => {
  const connect = engineConnector(['127.0.0.0/8', '::1/128', '10.0.0.0/8'])
  for (const address of ['127.0.0.1:7000', '[::1]:7000', '10.1.2.3:65535', 'localhost:7000']) {
    ;(await connect(address)).close()
  }
  for (const address of ['169.254.169.254:80', '93.184.215.14:443', '[2001:db8::1]:1']) {
    await assert.rejects(connect(address), /is in no network of ENGINE_NETWORKS/, address)
  }
  for (const address of ['', '127.0.0.1', 'unix:/run/x', 'dns:///127.0.0.1:1', 'a b:1', '[x]:1']) {
    await assert.rejects(connect(address), /does not have the form host:port/, address)
  }
})

test('an engine whose models have changed is called again at once, however often it announces that', async () => {
  const { clock, calls, announce, engineIds, settled } = startRegistry({ first: '10.0.0.2:1' })
  announce('first')
  await engineIds()
  assert.equal(calls.made, 1)
  clock.advance(1_000)
  for (let i = 0; i < FLOOD; i += 1) announce('first', '10.0.0.2:1', 1 + i)
  await settled()
  assert.equal(calls.made, 2)
  clock.advance(1_000)
  announce('first', '10.0.0.2:1', 1)
  announce('first', '10.0.0.2:1', 1)
  await settled()
  assert.equal(calls.made, 2, 'they are the same models as then')
})
