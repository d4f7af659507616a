/** The publisher moves jobs from the outbox to the broker. */

import assert from 'node:assert/strict'
import test from 'node:test'
import type { KyselyPlugin } from 'kysely'
import { publishWaiting } from '../../gateway/requests/submit/job-publisher.ts'
import { API, startGateway, uploadFile } from '../support/gateway/start-gateway.ts'

test('the outbox is read once for a batch, and no empty batch is read after it', async (t) => {
  const gateway = await startGateway(t)
  const payload = { input: { prompt: 'a bell', file_id: await uploadFile(gateway) } }
  const submitOne = () => gateway.call('POST', `${API}/audio/separate`, { body: payload })
  const ids = [await submitOne(), await submitOne()].map((reply) => reply.json().request_id)
  let reads = 0
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      const froms = node.kind === 'SelectQueryNode' ? JSON.stringify(node.from) : ''
      if (froms.includes('"outbox"')) reads += 1
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const store = gateway.store.withPlugin(counting)
  await publishWaiting({ ...gateway.deps, broker: gateway.broker, store })
  for (const id of ids) assert.equal(gateway.broker.jobOf(id).request_id, id)
  assert.equal(reads, 1)
})
