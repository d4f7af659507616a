/**
 * Every statement of `gateway/store/` finds its rows by an index, however many other rows there
 * are, on both databases and without statistics.
 */

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import test from 'node:test'
import type { Store } from '../../../../gateway/store/database.ts'
import { register } from 'tsx/esm/api'
import { addOthers, problemsOf, readPlanSchema } from '../../../support/database/query-plans.ts'
import { ADDING, CALLS, NOT_CALLED, type Call } from '../../../support/gateway/store-calls.ts'
import { makeRows } from '../../../support/gateway/store-rows.ts'

/** Tables with one row per account or key, which admins create, or with a single row. */
const FIXED = [
  ...['accounts', 'api_keys', 'rate_windows'],
  ...['installation', 'schema_use', 'secret_checks', 'write_probe'],
]

/** Problems that are acceptable, by the function that makes the statement, and why. */
const ALLOWED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  claimDue: { 'filters deliveries by host': 'of one account, and within the index' },
  countWork: {
    'scans deliveries': 'counts those that are not settled, by an index of them alone',
    'scans outbox': 'no longer than the queue: QUEUE_MAX holds',
  },
  countChanges: {
    'filters changes by tool': 'of one account and day, in which it may make 200 itself',
    'filters changes by action': 'likewise',
  },
  countJobs: {
    'filters requests by job_sequence': 'the unfinished ones of an account: QUEUE_MAX holds',
  },
  countWaiting: {
    'filters requests by priority': 'those of an account that wait: QUEUE_MAX holds',
  },
  deleteFile: {
    'filters requests by file_id': 'the unfinished ones of an account: QUEUE_MAX holds',
  },
  deleteRequest: {
    'filters requests by source_request_id': 'the unfinished ones of an account: QUEUE_MAX holds',
  },
  findDelivery: { 'filters deliveries by endpoint_id': 'of one request, which has 11' },
  firstEndOfOthers: { 'filters files by file_id': 'passes over one row' },
  hasChange: { 'filters changes by action': 'a session has two: its beginning and its end' },
  giveUpExpiredFiles: {
    'filters files by file_id': 'passes over those of unfinished requests: QUEUE_MAX holds',
    'filters requests by file_id': 'the unfinished ones: QUEUE_MAX holds',
  },
  giveUpOutputs: {
    'filters requests by request_id': 'passes over sources of unfinished ones: QUEUE_MAX holds',
    'filters requests by source_request_id': 'the unfinished ones: QUEUE_MAX holds',
  },
  holdBack: {
    'filters outbox by not_before': 'those of one account: QUEUE_MAX holds',
    'filters requests by priority': 'the unfinished ones of an account: QUEUE_MAX holds',
  },
  insertAttempt: { 'filters delivery_attempts by attempt_id': 'of one webhook, which keeps 30' },
  jobsInBroker: {
    'filters requests by priority': 'the unfinished ones of an account: QUEUE_MAX holds',
    'filters requests by job_sequence': 'the unfinished ones of an account: QUEUE_MAX holds',
    'filters requests by duration': 'the unfinished ones of an account: QUEUE_MAX holds',
  },
  latestAttempts: { sorts: 'SQLite, those of 100 requests of an account: each keeps 11 times 30' },
  listAllRequests: { sorts: 'a page of each of two states' },
  listShares: { sorts: 'of one account, which may have 200' },
  listWithJobs: { sorts: 'PostgreSQL, the unfinished ones: QUEUE_MAX holds' },
  openRequests: { sorts: 'PostgreSQL, the unfinished ones: QUEUE_MAX holds' },
  putPageSession: {
    'filters page_sessions by secret_hash': 'of one key, which keeps 100',
    sorts: 'of one key, which keeps 100',
  },
  takeWaiting: {
    'filters outbox by not_before': 'passes over what is put off: QUEUE_MAX holds',
    'scans outbox': 'in its order, up to a limit',
  },
  useOfAccounts: {
    'filters files by created_at': 'PostgreSQL, those that an account holds: its quota holds',
    'filters files by media_removed_at': 'those of one account and day',
    'filters requests by media_removed_at': 'those of one account and day',
  },
}

const FOLDER = new URL('../../../../gateway/store/', import.meta.url)

test('every exported function of the store has its calls here', async () => {
  register()
  const found: string[] = []
  for (const file of await readdir(FOLDER)) {
    if (!file.endsWith('.ts')) continue
    const module = (await import(new URL(file, FOLDER).href)) as Record<string, unknown>
    found.push(...Object.keys(module).filter((name) => typeof module[name] === 'function'))
  }
  assert.deepEqual(found.toSorted(), [...Object.keys(CALLS), ...NOT_CALLED].toSorted())
})

const needed = new Set<string>()

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`${kind}: no statement scans, sorts or filters a table that grows`, async (t) => {
    const rows = await makeRows(t, kind)
    for (const call of ADDING) await call(rows.store, rows)
    const inSqlite = kind === 'sqlite' ? rows : await makeRows(t, 'sqlite')
    const schema = await readPlanSchema(inSqlite.store, FIXED)
    if (kind === 'postgres') await addOthers(rows.store, schema)
    const unexpected: Record<string, string[]> = {}
    for (const [name, call] of Object.entries<Call>(CALLS)) {
      const work = async (store: Store) => call(store, rows)
      const { statements, problems } = await problemsOf(rows.store, schema, work)
      assert.ok(statements > 0, `${name} asks something`)
      const others = problems.filter((problem) => ALLOWED[name]?.[problem] === undefined)
      if (others.length > 0) unexpected[name] = others
      for (const problem of problems) needed.add(`${name} ${problem}`)
    }
    assert.deepEqual(unexpected, {})
  })
}

test('no exception to these rules is obsolete', () => {
  const all = Object.entries(ALLOWED).flatMap(([name, problems]) =>
    Object.keys(problems).map((problem) => `${name} ${problem}`),
  )
  assert.deepEqual(
    all.filter((each) => !needed.has(each)),
    [],
  )
})
