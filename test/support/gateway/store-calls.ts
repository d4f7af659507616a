/**
 * Calls every exported function of `gateway/store/` on rows that make it run all its statements.
 * What a call needs beforehand is set up in raw SQL, which is not counted.
 */

import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { newId } from '../../../shared/ids.ts'
import type { Store } from '../../../gateway/store/database.ts'
import * as accounts from '../../../gateway/store/accounts.ts'
import * as allAccounts from '../../../gateway/store/all-accounts.ts'
import * as activity from '../../../gateway/store/activity.ts'
import * as apiKeys from '../../../gateway/store/api-keys.ts'
import * as changes from '../../../gateway/store/changes.ts'
import * as deliveries from '../../../gateway/store/deliveries.ts'
import * as attempts from '../../../gateway/store/delivery-attempts.ts'
import * as endpointDeliveries from '../../../gateway/store/endpoint-deliveries.ts'
import * as files from '../../../gateway/store/files.ts'
import * as idempotencyKeys from '../../../gateway/store/idempotency-keys.ts'
import * as installation from '../../../gateway/store/installation.ts'
import * as jobsInBroker from '../../../gateway/store/jobs-in-broker.ts'
import * as ledger from '../../../gateway/store/ledger.ts'
import * as outbox from '../../../gateway/store/outbox.ts'
import * as pageSessions from '../../../gateway/store/page-sessions.ts'
import * as rateWindows from '../../../gateway/store/rate-windows.ts'
import * as requestLogs from '../../../gateway/store/request-logs.ts'
import * as requests from '../../../gateway/store/requests.ts'
import { inputKey, outputsKey } from '../../../gateway/media-store/keys.ts'
import * as retention from '../../../gateway/store/retention.ts'
import * as secretChecks from '../../../gateway/store/secret-checks.ts'
import * as shares from '../../../gateway/store/shares.ts'
import * as usage from '../../../gateway/store/usage.ts'
import * as webhookEndpoints from '../../../gateway/store/webhook-endpoints.ts'
import * as workCounts from '../../../gateway/store/work-counts.ts'
import type { RequestRow } from '../../../gateway/store/schema/tables.ts'
import type { Rows } from './store-rows.ts'

export type Call = (store: Store, rows: Rows) => unknown

/** Exported functions that ask nothing, or that read all there is while nobody else does. */
export const NOT_CALLED = [
  'newestFirst',
  'promptsOfRow',
  'isKnownAttempt',
  'outputKeysOf',
  'secretsOf',
  'fileStatus',
  'mediaOf',
  'isPostgres',
  'inTransaction',
  'oneAtATime',
  'copyDatabase',
]

const page = { limit: 10 }
const startAt = ({ created_at, request_id: id }: RequestRow) => ({ created_at, id })
const SOME = 'there is some'

const addressOf = ({ endpoint_id, url }: { endpoint_id: string; url: string }) => ({
  endpointId: endpoint_id,
  url,
})

/** Calls a function twice, so that the second call finds the result of the first. */
const twice =
  (work: (store: Store, entry: Rows['entry']) => Promise<unknown>): Call =>
  async (store, { entry }) => {
    await work(store, entry)
    await work(store, entry)
  }

/** By the name of each exported function, a call that runs all its statements. */
export const CALLS = {
  insertRequest: (store, { open }) =>
    requests.insertRequest(store, { ...open, request_id: 'req_new' }),
  findRequest: (store, { open }) => requests.findRequest(store, open.request_id),
  findRequestToChange: (store, { open }) => requests.findRequestToChange(store, open.request_id),
  keepOutputs: (store, { done }) => requests.keepOutputs(store, done.request_id),
  holdRequest: (store, { done }) => requests.holdRequest(store, done.request_id),
  async listRequests(store, { account: { account_id: id }, open, past, future }) {
    const times = { after: startAt(open), createdFrom: past, createdBefore: future }
    for (const kind of [undefined, 'sounds'] as const) {
      await requests.listRequests(store, id, { ...page, kind })
      await requests.listRequests(store, id, { ...page, kind, status: 'FAILED' })
      await requests.listRequests(store, id, { ...page, kind, after: startAt(open) })
      await requests.listRequests(store, id, { ...page, kind, status: 'FAILED', ...times })
    }
  },
  latestFailures: (store) => requests.latestFailures(store, 10),
  listOpen: (store, { account }) => requests.listOpen(store, account.account_id, 10),
  openRequests: (store) => requests.openRequests(store),
  lastCompleted: (store) => requests.lastCompleted(store, 10),
  renameRequest: (store, { open }) => requests.renameRequest(store, open.request_id, 'new.wav'),
  noteCounted: (store, { open }) => requests.noteCounted(store, open.request_id, 'attempt_new'),
  noteMeasured: (store, { open }) =>
    requests.noteMeasured(store, open.request_id, { duration: 1, media_bytes: 1 }),
  async countWaiting(store, { account }) {
    await requests.countWaiting(store, 10)
    await requests.countWaiting(store, 10, { accountId: account.account_id, priority: 'batch' })
  },
  async listWithJobs(store, { open, past, future }) {
    const unchanged = { before: past, latest: future }
    const statuses = requests.UNFINISHED
    await requests.listWithJobs(store, { ...page, statuses, unchanged, after: open })
    await requests.listWithJobs(store, { ...page, statuses: ['IN_QUEUE'], after: open })
  },
  moveRequest: (store, { open, now }) =>
    requests.moveRequest(store, {
      requestId: open.request_id,
      to: 'FAILED',
      now,
      attemptId: 'attempt-1',
    }),
  startAttempt: (store, { open, now }) =>
    requests.startAttempt(store, {
      requestId: open.request_id,
      attemptId: 'attempt-2',
      engineId: 'engine-1',
      startedAt: now,
      now,
      latest: now,
    }),
  setJobSequence: (store, { open: { request_id } }) =>
    requests.setJobSequence(store, { request_id, message_id: request_id }, 1),
  requeueRequest: (store, { open, now }) =>
    requests.requeueRequest(store, open, { now, interruptions: 0 }),

  giveUpExpiredFiles: async (store, { future }) =>
    assert.ok(await retention.giveUpExpiredFiles(store, { ...page, now: future }), SOME),
  async giveUpOutputs(store, { future }) {
    await sql`update requests set source_request_id = null`.execute(store)
    assert.ok(await retention.giveUpOutputs(store, { ...page, now: future }), SOME)
  },
  async deleteOldRequests(store, { future }) {
    await sql`update requests set media_removed_at = ${future}`.execute(store)
    assert.ok(await retention.deleteOldRequests(store, { ...page, before: future }), SOME)
  },
  async deleteRequest(store, { done, now }) {
    assert.ok(await retention.deleteRequest(store, done.request_id, now), 'it is needed')
    await sql`update requests set source_request_id = null`.execute(store)
    assert.equal(await retention.deleteRequest(store, done.request_id, now), null)
  },
  async deleteFile(store, { file, done, now }) {
    assert.ok(await retention.deleteFile(store, file.file_id, now), 'it is needed')
    assert.equal(await retention.deleteFile(store, done.file_id!, now), null)
  },
  deleteOldFiles: (store, { future }) =>
    retention.deleteOldFiles(store, { ...page, before: future }),
  mediaToRemove: (store) => retention.mediaToRemove(store, 10),
  putRemovalsOff: (store, { now }) => retention.putRemovalsOff(store, ['inputs/x'], now),
  settleRemovals: (store) => retention.settleRemovals(store, ['inputs/x']),
  async orphanOf(store, { file, done }) {
    await retention.orphanOf(store, inputKey(file.file_id))
    await retention.orphanOf(store, outputsKey(done.request_id))
  },
  giveUpLateOutputs: (store, { done, now }) =>
    retention.giveUpLateOutputs(store, done.request_id, now),
  giveUpOutputsOfOtherAttempts: (store, { done, now }) =>
    retention.giveUpOutputsOfOtherAttempts(store, { ...done, attempt_ids: 'attempt-7 ' }, now),

  insertDeliveries: (store, { delivery, open }) =>
    deliveries.insertDeliveries(store, [
      { ...delivery, webhook_id: 'msg_new', request_id: open.request_id },
    ]),
  findDelivery: (store, { done }) => deliveries.findDelivery(store, done.request_id),
  listDueAccounts: (store, { now }) => deliveries.listDueAccounts(store, now),
  async claimDue(store, { account, delivery, endpoint, future }) {
    const claim = { now: future, accountId: account.account_id, claimId: 'claim', until: future }
    assert.equal(
      await deliveries.claimDue(store, {
        ...claim,
        exceptHosts: ['hooks.test', 'other-hooks.test'],
      }),
      undefined,
    )
    const receivers = new Set<string | undefined>()
    for (let i = 0; i < 4; i += 1) {
      const due = await deliveries.claimDue(store, { ...claim, exceptHosts: [] })
      receivers.add(due?.receiver?.owner)
    }
    assert.ok(receivers.has(endpoint.endpoint_id) && receivers.has(delivery.request_id), SOME)
  },
  findClaimed: (store, { delivery }) => deliveries.findClaimed(store, delivery.webhook_id, 'claim'),
  changeDelivery: (store, { delivery }) =>
    deliveries.changeDelivery(store, delivery, { state: 'delivered' }),

  async listDeliveries(store, { endpoint: { endpoint_id: id }, now: created_at }) {
    const first = await endpointDeliveries.listDeliveries(store, id, page)
    assert.ok(first.length > 0, SOME)
    await endpointDeliveries.listDeliveries(store, id, { ...page, after: { created_at, id: 'x' } })
  },
  countDeliveries: (store, { endpoint, past }) =>
    endpointDeliveries.countDeliveries(store, endpoint.endpoint_id, { from: past, most: 10 }),
  async restartDeliveries(store, { endpoint: { endpoint_id: endpointId }, now, past, future }) {
    const after = { created_at: past, webhook_id: '' }
    const range = { ...page, endpointId, until: future, after, now }
    const all = await endpointDeliveries.restartDeliveries(store, { ...range, isFailedOnly: false })
    assert.ok(all.length > 0, SOME)
    await endpointDeliveries.restartDeliveries(store, { ...range, isFailedOnly: true })
  },
  endWaiting: (store, { endpoint }) =>
    endpointDeliveries.endWaiting(store, endpoint.endpoint_id, { ...page, reason: 'gone' }),

  insertEndpoint: (store, { endpoint }) =>
    webhookEndpoints.insertEndpoint(store, { ...endpoint, endpoint_id: newId('ep') }),
  listEndpoints: (store, { account }) => webhookEndpoints.listEndpoints(store, account.account_id),
  findEndpoint: (store, { endpoint }) => webhookEndpoints.findEndpoint(store, endpoint.endpoint_id),
  changeEndpoint: (store, { endpoint }) =>
    webhookEndpoints.changeEndpoint(store, endpoint.endpoint_id, { description: 'x' }),
  deleteEndpoint: (store, { endpoint }) =>
    webhookEndpoints.deleteEndpoint(store, endpoint.endpoint_id),
  deleteEndpointsOf: (store, { account }) =>
    webhookEndpoints.deleteEndpointsOf(store, account.account_id),
  noteFailing: (store, { endpoint, now }) =>
    webhookEndpoints.noteFailing(store, addressOf(endpoint), now),
  noteWorking: (store, { endpoint }) => webhookEndpoints.noteWorking(store, addressOf(endpoint)),
  disableEndpoint: (store, { endpoint, now }) =>
    webhookEndpoints.disableEndpoint(store, addressOf(endpoint), { now, reason: 'x' }),
  listAllEndpoints: (store) => webhookEndpoints.listAllEndpoints(store, { ...page, after: '' }),
  replaceSecrets: (store, { endpoint }) =>
    webhookEndpoints.replaceSecrets(store, endpoint, { secret: 'x', old_secret: null }),

  insertAttempt: (store, { attempt }) =>
    attempts.insertAttempt(store, { ...attempt, attempt_id: newId('try') }),
  readAttempts: (store, { delivery }) => attempts.readAttempts(store, delivery.webhook_id),
  async latestAttempts(store, { account }) {
    await attempts.latestAttempts(store, 10)
    await attempts.latestAttempts(store, 10, account.account_id)
  },

  insertFile: (store, { file }) => files.insertFile(store, { ...file, file_id: 'file_new' }),
  findFile: (store, { file }) => files.findFile(store, file.file_id),
  async listFiles(store, { account, file }) {
    const after = { created_at: file.created_at, id: file.file_id }
    await files.listFiles(store, account.account_id, page)
    await files.listFiles(store, account.account_id, { ...page, after })
  },
  firstEndOfOthers: (store, { file }) => files.firstEndOfOthers(store, file),
  hasMedia: (store, { file }) => files.hasMedia(store, file.file_id),
  keepMedia: (store, { file }) => files.keepMedia(store, file.file_id),
  markFileUploaded: (store, { file, now, future }) =>
    files.markFileUploaded(store, file.file_id, { uploaded_at: now, expires_at: future }),
  setFileDuration: (store, { file }) => files.setFileDuration(store, file.file_id, 1),

  takeIdempotencyKey: (store, { account, done, now, future }) =>
    idempotencyKeys.takeIdempotencyKey(
      store,
      {
        account_id: account.account_id,
        idempotency_key: 'key',
        fingerprint: '',
        request_id: done.request_id,
        sealed_answer: '',
        expires_at: future,
      },
      now,
    ),
  findIdempotencyKey: (store, { account, now }) =>
    idempotencyKeys.findIdempotencyKey(store, account.account_id, 'key', now),
  forgetAnswer: (store, { done }) => idempotencyKeys.forgetAnswer(store, done.request_id),
  deleteExpiredIdempotencyKeys: (store, { now }) =>
    idempotencyKeys.deleteExpiredIdempotencyKeys(store, { ...page, now }),

  credit: twice((store, entry) => ledger.credit(store, entry)),
  reserve: twice((store, entry) => ledger.reserve(store, entry)),
  async raiseReservation(store, { entry }) {
    await ledger.credit(store, { ...entry, reference: 'more', seconds: 100 })
    await ledger.raiseReservation(store, entry)
    await ledger.raiseReservation(store, { ...entry, seconds: 20 })
  },
  reservedFor: (store, { done }) => ledger.reservedFor(store, done.request_id),
  deduct: twice((store, entry) => ledger.deduct(store, entry)),
  async releaseReservation(store, { entry, now }) {
    await ledger.credit(store, { ...entry, reference: 'more', seconds: 100 })
    await ledger.reserve(store, entry)
    await ledger.releaseReservation(store, entry.reference, now)
  },

  countJobs: (store, { account }) => jobsInBroker.countJobs(store, account.account_id, 10),
  jobsInBroker: (store, { account }) => jobsInBroker.jobsInBroker(store, [account.account_id]),
  takeBrokerPlaces: (store, { open }) => jobsInBroker.takeBrokerPlaces(store, [open.request_id]),
  giveBrokerPlaceBack: (store, { open }) =>
    jobsInBroker.giveBrokerPlaceBack(store, open.request_id),

  putInOutbox: (store, { now }) =>
    outbox.putInOutbox(
      store,
      { message_id: 'new', request_id: 'req_new', created_at: now },
      'interactive',
    ),
  async takeWaiting(store, { future }) {
    const times = { now: future, until: future, latest: future }
    const taken = await outbox.takeWaiting(store, { ...page, ...times })
    assert.ok(taken.length > 0, SOME)
  },
  giveBackToOutbox: (store) => outbox.giveBackToOutbox(store, ['one', 'two']),
  holdBack: (store, { account, future }) =>
    outbox.holdBack(store, account.account_id, { until: future, isBatchOnly: true }),
  putOff: (store, { open, future }) =>
    outbox.putOff(store, { ...open, message_id: 'one', tries: 0 }, future),
  removeFromOutbox: (store) => outbox.removeFromOutbox(store, ['one', 'two']),
  withdrawFromOutbox: (store, { open }) => outbox.withdrawFromOutbox(store, open.request_id),

  putPageSession: (store, { key, future }) =>
    pageSessions.putPageSession(store, {
      secret_hash: newId('hash'),
      key_id: key.key_id,
      key_hash: key.key_hash,
      kind: 'code',
      expires_at: future,
    }),
  findPageSession: (store, { now }) => pageSessions.findPageSession(store, 'code', 'hash', now),
  deletePageSession: (store) => pageSessions.deletePageSession(store, 'code', 'hash'),
  deletePageSessionsOf: (store, { account }) =>
    pageSessions.deletePageSessionsOf(store, account.account_id),
  deleteExpiredPageSessions: (store, { now }) => pageSessions.deleteExpiredPageSessions(store, now),

  insertShare: (store, { account, done, now, future }) =>
    shares.insertShare(store, {
      share_id: newId('share'),
      secret_hash: newId('hash'),
      request_id: done.request_id,
      account_id: account.account_id,
      created_at: now,
      expires_at: future,
    }),
  listShares: (store, { account, now }) => shares.listShares(store, account.account_id, now),
  findShare: (store, { now }) => shares.findShare(store, 'hash', now),
  deleteShare: (store, { account }) => shares.deleteShare(store, account.account_id, 'share_new'),
  deleteExpiredShares: (store, { now }) => shares.deleteExpiredShares(store, now),

  ensureAccount: (store, { account }) => accounts.ensureAccount(store, account),
  findAccount: (store, { account }) => accounts.findAccount(store, account.account_id),
  accountOf: (store, { account }) => accounts.accountOf(store, account),
  heldMedia: (store) => accounts.heldMedia(store),
  listAccounts: (store) => accounts.listAccounts(store),
  accountsToClose: (store) => accounts.accountsToClose(store),
  updateAccount: (store, { account, now }) =>
    accounts.updateAccount(store, account.account_id, { disabled_at: now }),

  putApiKey: (store, { key }) => apiKeys.putApiKey(store, key),
  findApiKeys: (store, { key }) => apiKeys.findApiKeys(store, [key.key_id]),
  deleteApiKeys: (store, { account }) => apiKeys.deleteApiKeys(store, account.account_id),
  async listApiKeys(store, { account }) {
    await apiKeys.listApiKeys(store)
    await apiKeys.listApiKeys(store, account.account_id)
  },
  listKeysSince: (store, { account, now }) => apiKeys.listKeysSince(store, account.account_id, now),
  updateApiKey: (store, { key, now }) =>
    apiKeys.updateApiKey(store, key.key_id, { revoked_at: now }),
  noteKeyUse: (store, { key, now }) => apiKeys.noteKeyUse(store, key.key_id, now),
  hasApiKeys: (store) => apiKeys.hasApiKeys(store),

  addChange: (store, { account, key, now }) =>
    changes.addChange(store, {
      created_at: now,
      tool: 'command_line',
      origin: 'test',
      action: 'key.create',
      account_id: account.account_id,
      key_id: key.key_id,
      details: {},
    }),
  countChanges: (store, { account, now }) =>
    changes.countChanges(store, {
      actions: ['key.create', 'key.rotate'],
      accountId: account.account_id,
      tool: 'account_api',
      from: now,
    }),
  hasChange: (store, { key, now }) =>
    changes.hasChange(store, { action: 'session.end', keyId: key.key_id, from: now }),
  async listChanges(store, { account, key, now }) {
    await changes.listChanges(store, page)
    await changes.listChanges(store, { ...page, accountId: account.account_id })
    await changes.listChanges(store, { ...page, keyId: key.key_id })
    const after = { created_at: now, id: 'change_x' }
    await changes.listChanges(store, { ...page, after, action: 'key.create' })
    await changes.listChanges(store, { ...page, accountId: account.account_id, after })
  },

  async listAllRequests(store, { account: { account_id: accountId }, open }) {
    const after = startAt(open)
    for (const each of [{}, { accountId }, { after }, { accountId, after }]) {
      await allAccounts.listAllRequests(store, { ...page, statuses: requests.UNFINISHED, ...each })
      await allAccounts.listAllRequests(store, { ...page, statuses: ['FAILED'], ...each })
    }
  },
  async listAllDeliveries(store, { now: created_at }) {
    for (const start of [{}, { after: { created_at, id: 'x' } }]) {
      await allAccounts.listAllDeliveries(store, { ...page, ...start })
      await allAccounts.listAllDeliveries(store, { ...page, ...start, state: 'failed' })
    }
  },
  useOfAccounts: (store, { past }) =>
    allAccounts.useOfAccounts(store, { day: past.slice(0, 10), addedFrom: past }),
  bytesThatExpire: (store, { future }) => allAccounts.bytesThatExpire(store, future),

  countEnded: (store, { past, future }) =>
    activity.countEnded(store, { from: past, before: future }),

  ensureInstallation: (store) => installation.ensureInstallation(store, 'inst_new'),
  setMediaPlace: (store) => installation.setMediaPlace(store, 'here'),
  useAdminCode: (store, { now }) => installation.useAdminCode(store, now),

  countCall: (store, { key, now, future }) =>
    rateWindows.countCall(store, { keyId: key.key_id, now, endsAt: future, latest: future }),
  deleteOldWindows: (store, { now }) => rateWindows.deleteOldWindows(store, now),

  appendLogs: (store, { done, now }) =>
    requestLogs.appendLogs(store, done.request_id, [{ timestamp: now, message: 'x' }]),
  readLogs: (store, { done }) => requestLogs.readLogs(store, done.request_id),

  ensureSecretCheck: (store) => secretChecks.ensureSecretCheck(store, 'check', 'sealed'),
  replaceSecretCheck: (store) => secretChecks.replaceSecretCheck(store, 'check', 'sealed'),

  addUse: (store, { account }) =>
    usage.addUse(store, {
      account_id: account.account_id,
      day: '2026-01-02',
      completed: 1,
      failed: 0,
      audio_seconds: 1,
    }),
  readUsage: (store, { account }) =>
    usage.readUsage(store, account.account_id, { from: '2026-01-01', to: '2026-02-01' }),
  async listUsage(store, { account: { account_id: accountId } }) {
    const range = { from: '2026-01-01', to: '2026-02-01', ...page }
    const after = { day: '2026-01-02', account_id: accountId }
    await usage.listUsage(store, range)
    await usage.listUsage(store, { ...range, accountId, after })
  },
  usedSince: (store, { account }) => usage.usedSince(store, account.account_id, '2026-01-01'),

  countWork: (store, { now }) => workCounts.countWork(store, now),
} satisfies Record<string, Call>

/** Calls that insert a row into each table that `makeRows` leaves empty. */
export const ADDING: readonly Call[] = [
  CALLS.insertAttempt,
  CALLS.takeIdempotencyKey,
  CALLS.credit,
  CALLS.putPageSession,
  CALLS.insertShare,
  CALLS.addChange,
  CALLS.giveUpLateOutputs,
  CALLS.appendLogs,
]
