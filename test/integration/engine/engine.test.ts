import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DeviceError } from '../../../engine/compute/compute-errors.ts'
import type { ChunkOrder } from '../../../engine/compute/compute-messages.ts'
import type { Compute } from '../../../engine/compute/compute.ts'
import { Computes } from '../../../engine/compute/computes.ts'
import { loadConfig } from '../../../engine/config.ts'
import { createEngine } from '../../../engine/engine.ts'
import { EngineMetrics } from '../../../engine/operations/engine-metrics.ts'
import type { Broker, Lease } from '../../../shared/broker/broker.ts'
import { createLogger } from '../../../shared/telemetry/log.ts'
import { createPublicFetch } from '../../../shared/http/public-fetch.ts'
import { temporaryFolder } from '../../support/basics/temporary-folder.ts'
import { FakeClock } from '../../support/basics/fake-clock.ts'
import { noise } from '../../support/media/signals.ts'
import { wavBytes } from '../../support/media/wav.ts'
import { PLAIN_MODEL } from '../../support/models/plain-model.ts'
import { makeJob } from '../../support/engine/job-parts.ts'
import { serve } from '../../support/http/serve.ts'

const WAV = wavBytes([noise(1, 8_000)], 8_000)

test('an engine whose device fails three jobs in a row is sick, and none of the jobs fails for it', async (t) => {
  const { url } = await serve(t, (_, response) => void response.end(WAV))
  const folder = temporaryFolder(t)
  const events: string[] = []
  let leased = 0
  const leaseJob = async (): Promise<Lease | null> => {
    await sleep(1)
    if (leased === 3) return null
    leased += 1
    return {
      job: makeJob(`r${leased}`, url),
      attemptId: `a${leased}`,
      deliveries: 1,
      heartbeat: () => undefined,
      ack: async () => undefined,
      nak: () => undefined,
    }
  }
  const broker = {
    leaseJob,
    isConnected: () => true,
    publishProgress: () => undefined,
    publishEvent: async ({ type }: { type: string }) => void events.push(type),
  } as unknown as Broker
  const thread = {
    prepare: async (order: ChunkOrder) => order,
    open: async () => {
      throw new DeviceError('CUDA_ERROR_ILLEGAL_ADDRESS')
    },
    ready: {
      models: [{ description: { ...PLAIN_MODEL, name: 'mini' }, framesFitting: null }],
      tagger: null,
      backend: '',
      device: 'gpu',
    },
    restarting: null,
    busySeconds: 0,
  } as unknown as Compute
  const sick = await new Promise<string>((onSick) => {
    const engine = createEngine({
      config: loadConfig({ NATS_URL: 'nats://127.0.0.1:1', SCRATCH_DIR: folder }),
      version: '',
      computes: new Computes(
        thread,
        () => true,
        async () => assert.fail('nothing is loaded'),
      ),
      broker,
      publicFetch: createPublicFetch({ allowCidrs: [] }),
      clock: new FakeClock(),
      log: createLogger('test', 'silent'),
      metrics: new EngineMetrics(),
      fetchEnvironment: {},
      onModelsChanged: () => undefined,
      onSick,
    })
    void engine.start()
    t.after(() => engine.release())
  })
  assert.match(sick, /the device fails/)
  while (events.filter((type) => type === 'released').length < 3) await sleep(1)
  assert.ok(!events.includes('failed'))
})
