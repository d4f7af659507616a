import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import test, { type TestContext } from 'node:test'
import { startControlServer, type ControlledEngine } from '../../../engine/control-server.ts'
import { CallRefusal } from '../../../engine/call-refusal.ts'
import { connectEngine } from '../../../shared/engine-control.ts'
import { healthOf } from '../../support/engine/health.ts'

async function startServer(t: TestContext, engine: Partial<ControlledEngine>, host = '127.0.0.1') {
  const server = await startControlServer(host, 0, engine as ControlledEngine)
  const client = connectEngine(server.address)
  t.after(() => {
    client.close()
    server.stop()
  })
  return { client, address: server.address }
}

const start = async (...words: Parameters<typeof startServer>) =>
  (await startServer(...words)).client

test('the batch budget is set at run time, within its bounds', async (t) => {
  const set: number[] = []
  const client = await start(t, { setBatching: (frames) => void set.push(frames) })
  for (const frames of [1, 512, 10_000_000]) assert.equal(await client.setBatching(frames), frames)
  for (const frames of [0, 10_000_001]) {
    await assert.rejects(client.setBatching(frames), /INVALID_ARGUMENT.*1 to 10000000, not \d+/)
  }
  assert.deepEqual(set, [1, 512, 10_000_000])
})

test('a drained engine takes no jobs, but is alive until it is stopped', async (t) => {
  const drain = async () => ({ finished: 0, released: 0 })
  const { client, address } = await startServer(t, { drain })
  await client.drain(1_000)
  assert.equal(await healthOf(address), 'SERVING')
  assert.equal(await healthOf(address, 'winnow.engine.v1.EngineControl'), 'NOT_SERVING')
})

test('an engine can listen on an IPv6 address', async (t) => {
  const client = await start(t, { stats: () => ({ jobs: 3 }) as never }, '::1')
  assert.equal((await client.stats()).jobs, 3)
})

test('an engine that listens everywhere is reached by the name of its host', async (t) => {
  const { address } = await startServer(t, {}, '0.0.0.0')
  assert.match(address, /:\d+$/)
  assert.equal(address.split(':')[0], hostname())
})

test('an engine describes all its models', async (t) => {
  const [htdemucs, mini] = [
    { name: 'htdemucs', answers: 'stems', stems: ['drums', 'vocals'] },
    { name: 'mini', answers: 'text', stems: [] },
  ]
  const description = { engine_id: 'e', model: mini, models: [htdemucs, mini] }
  const { models } = await (await start(t, { describe: () => description as never })).describe()
  assert.deepEqual(
    models.map(({ name, answers, stems }) => ({ name, answers, stems })),
    [htdemucs, mini],
  )
})

test('a model that cannot be loaded or unloaded is refused with the reason', async (t) => {
  const model = { name: 'htdemucs', kind: 'htdemucs', built_in: false, bytes: 84_000_000 } as const
  const listed = [
    { ...model, state: 'NOT_LOADED', problem: 'It is broken.', licence: 'MIT' },
  ] as const
  const client = await start(t, {
    models: {
      list: () => [...listed],
      async load(name) {
        throw new CallRefusal('NOT_FOUND', `No model "${name}" is installed here.`)
      },
      async unload(name) {
        if (name === 'mini') throw new CallRefusal('FAILED_PRECONDITION', 'mini came with Winnow.')
      },
    },
  })
  assert.deepEqual(await client.listModels(), listed)
  await assert.rejects(client.loadModel('x'), /NOT_FOUND: No model "x" is installed here\./)
  await assert.rejects(client.unloadModel('mini'), /FAILED_PRECONDITION: mini came with Winnow\./)
  await client.unloadModel('htdemucs')
})
