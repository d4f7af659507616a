/**
 * Counts the statements from a request's submit to its result, and those of the publisher; they are
 * much of a gateway's work.
 */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { KyselyPlugin } from 'kysely'
import { publishWaiting } from '../../gateway/requests/submit/job-publisher.ts'
import {
  databaseKind,
  openTestDatabase,
  type DatabaseKind,
} from '../support/database/test-database.ts'
import {
  ATTEMPT_ID,
  FILE_BYTES,
  firstRequest,
  type Gateway,
  outputsOf,
  startGateway,
} from '../support/gateway/start-gateway.ts'

/** Without begin and commit of its five transactions, and what transfers of its media ask. */
const STATEMENTS_MAX: Readonly<Record<DatabaseKind, number>> = { sqlite: 26, postgres: 27 }
/** A gateway with PostgreSQL takes the rows by an update that the query begins with. */
const OUTBOX_READ: Readonly<Record<DatabaseKind, string>> = {
  sqlite: 'SelectQuery outbox',
  postgres: 'SelectQuery taken',
}
const LOGS = [{ timestamp: '2026-01-01T00:00:00.000Z', message: 'separated' }]

test('a call that waits for its result makes no more statements than before', async (t) => {
  const executed: string[] = []
  const gateway = await startGateway(t, { plugin: collect(executed) })
  executed.length = 0 // drops those that made its key
  await separateOnce(t, gateway)
  const statements = executed.splice(0) // later ones belong to the test
  t.diagnostic(`${statements.length} statements`)
  const text = `${statements.length} statements:\n${statements.join('\n')}`
  assert.ok(statements.length <= STATEMENTS_MAX[databaseKind()], text)
})

test('the outbox is read once for a batch, and no empty batch is read after it', async (t) => {
  const gateway = await startGateway(t)
  const ids = [await gateway.submit(), await gateway.submit()].map(
    (reply) => reply.json().request_id,
  )
  const executed: string[] = []
  const store = gateway.store.withPlugin(collect(executed))
  await publishWaiting({ ...gateway.deps, broker: gateway.broker, store })
  for (const id of ids) assert.equal(gateway.broker.jobOf(id).request_id, id)
  const reads = executed.filter((statement) => statement === OUTBOX_READ[databaseKind()])
  assert.equal(reads.length, 1, executed.join('\n'))
})

/** Collects statements, such as `UpdateQuery requests`, without the queries nested in them. */
function collect(executed: string[]): KyselyPlugin {
  const nameOf = new WeakMap<object, string>()
  return {
    transformQuery({ node, queryId }) {
      const [table = ''] = JSON.stringify(node).match(/(?<="IdentifierNode","name":")\w+/) ?? []
      nameOf.set(queryId, `${node.kind.replace('Node', '')} ${table}`)
      return node
    },
    async transformResult({ result, queryId }) {
      executed.push(nameOf.get(queryId)!)
      return result
    },
  }
}

async function separateOnce(t: TestContext, gateway: Gateway): Promise<void> {
  const observer = await openTestDatabase(gateway.database)
  t.after(() => observer.destroy())
  const body = new FormData()
  body.append('prompt', 'a bell')
  body.append('file', new Blob([FILE_BYTES], { type: 'audio/mp4' }), 'concert.m4a')
  const headers = {
    authorization: `Bearer ${gateway.key}`,
    prefer: 'wait=60',
    'idempotency-key': 'once',
  }
  const url = `${await gateway.listen()}/v1/audio/separate`
  const answering = fetch(url, { method: 'POST', headers, body })
  const publish = async () => undefined
  const requestId = await firstRequest({ ...gateway, store: observer, publish })
  await gateway.publish()
  await gateway.event('started', requestId, { duration: 12.5, output_bytes: 100 })
  const outputs = outputsOf(gateway.broker.jobOf(requestId), ATTEMPT_ID)
  await gateway.event('completed', requestId, { outputs, logs: LOGS })
  const reply = await answering
  assert.equal(reply.status, 200, await reply.text())
}
