/**
 * Checks the invariants after every step, on the database itself. Triggers record what has changed, so
 * a step's checks cost only as much as its changes.
 */

import { isoTime } from '../../shared/clock.ts'
import type { Event } from '../../shared/messages.ts'
import type {
  AccountRow,
  FileRow,
  LedgerRow,
  RequestRow,
} from '../../gateway/store/schema/tables.ts'
import type { Clients } from './clients.ts'
import type { DatabaseServer } from './database.ts'
import type { SourceFacts } from './engine-media.ts'
import type { MediaDisk } from './media.ts'
import { Violation } from './violation.ts'

/** Which status may follow which; repeated here because the product's own table is under test. */
const MOVES: Readonly<Record<string, readonly string[]>> = {
  IN_QUEUE: ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED'],
  IN_PROGRESS: ['IN_PROGRESS', 'IN_QUEUE', 'COMPLETED', 'FAILED'],
  COMPLETED: ['COMPLETED'],
  FAILED: ['FAILED'],
}
const isTerminal = (status: string) => status === 'COMPLETED' || status === 'FAILED'
const DAY_MS = 86_400_000
const RECORD_DAYS = 30

const change = (kind: string, id: string, before: string, after: string) =>
  `begin insert into changes values ('${kind}', ${id}, ${before}, ${after}); end`
const END = `(old.status || old.finished_at || coalesce(old.outputs, '') || coalesce(old.error_code, ''))`
const SAME_END = END.replaceAll('old.', 'new.')

const TRIGGERS = [
  `after insert on main.requests ${change('new', 'new.request_id', 'null', 'new.status')}`,
  `after update on main.requests ${change('move', 'new.request_id', 'old.status', 'new.status')}`,
  `after update on main.requests when old.status in ('COMPLETED', 'FAILED') and ${END} is not ${SAME_END}
    ${change('end changed', 'new.request_id', END, SAME_END)}`,
  `after update on main.requests
    when old.attempt_id is not null and old.attempt_id is not new.attempt_id
    ${change('overtaken', 'new.request_id', 'old.started_at', 'new.started_at')}`,
  `after update on main.requests when old.media_removed_at is null and new.media_removed_at is not null
    ${change('outputs given up', 'new.request_id', 'old.status', 'old.outputs_expire_at')}`,
  `after delete on main.requests
    ${change('record gone', 'old.request_id', 'old.finished_at', 'old.media_removed_at')}`,
  `after update on main.files when old.media_removed_at is null and new.media_removed_at is not null
    ${change('file given up', 'new.file_id', 'old.expires_at', 'null')}`,
  `after insert on main.deliveries ${change('row', 'new.request_id', 'null', 'null')}`,
  `after update on main.deliveries when old.body is not new.body or old.webhook_id is not new.webhook_id
    ${change('webhook changed', 'new.request_id', 'old.webhook_id', 'new.webhook_id')}`,
  `after delete on main.deliveries ${change('row', 'old.request_id', 'null', 'null')}`,
  `after insert on main.outbox ${change('row', 'new.request_id', 'null', 'null')}`,
  `after delete on main.outbox ${change('row', 'old.request_id', 'null', 'null')}`,
  `after insert on main.ledger ${change('ledger', 'new.account_id', 'new.reference', 'null')}`,
  `after delete on main.ledger ${change('ledger', 'old.account_id', 'old.reference', 'null')}`,
  `after update on main.accounts ${change('ledger', 'new.account_id', 'null', 'null')}`,
]

export interface Change {
  kind: string
  id: string
  before: string | null
  after: string | null
}

export interface Subject {
  database: DatabaseServer
  disk: MediaDisk
  clients: Clients
  /** Returns the latest time that any clock has shown, in epoch milliseconds. */
  latest: () => number
  factsOf: (row: RequestRow) => SourceFacts | undefined
}

export class Invariants {
  readonly #subject: Subject
  /** All requests ever stored, with the action that submitted each. */
  readonly #requests = new Map<string, number>()
  /** References of all credits. */
  readonly credits = new Set<string>()

  constructor(subject: Subject) {
    this.#subject = subject
    const { raw } = subject.database
    raw.exec('create temp table changes (kind text, id text, before text, after text)')
    for (const [i, trigger] of TRIGGERS.entries()) {
      raw.exec(`create temp trigger change_${i} ${trigger}`)
    }
  }

  /** Requests that were ever stored, including deleted ones. */
  get requests(): ReadonlyMap<string, number> {
    return this.#requests
  }

  /** Returns the changes committed since the last call; throws a Violation for a forbidden one. */
  check(): Change[] {
    const { database } = this.#subject
    if (database.raw.inTransaction) return []
    if (database.statement('select 1 from temp.changes limit 1').get() === undefined) return []
    const changes = database.statement('select * from temp.changes').all() as Change[]
    database.statement('delete from temp.changes').run()
    const [touched, accounts] = [new Set<string>(), new Set<string>()]
    for (const each of changes) {
      if (each.kind === 'ledger') {
        accounts.add(each.id)
        if (each.before !== null && this.#requests.has(each.before)) touched.add(each.before)
        continue
      }
      if (each.kind === 'new') this.#addRequest(each.id)
      this.#checkChange(each)
      if (each.kind !== 'file given up') touched.add(each.id)
    }
    for (const id of touched) this.#checkRequest(id)
    for (const id of accounts) this.#checkAccount(id)
    return changes
  }

  /** Checks that media may be removed; called before it is. */
  checkRemoval(key: string): void {
    const { database } = this.#subject
    const [, kind, id, place] = /^(inputs|outputs)\/([^/]+)(?:\/([^/]+))?/.exec(key) ?? []
    if (place !== undefined) return this.#checkPlaceRemoval(id!, place)
    const table = kind === 'inputs' ? 'files' : 'requests'
    const idColumn = kind === 'inputs' ? 'file_id' : 'request_id'
    const row = database
      .statement(`select media_removed_at from ${table} where ${idColumn} = ?`)
      .get(id) as Pick<FileRow, 'media_removed_at'> | undefined
    if (row?.media_removed_at === null) fail('what is deleted was due', `${key} is still wanted`)
  }

  /** Checks that one attempt's outputs may be removed. */
  #checkPlaceRemoval(id: string, place: string): void {
    const row = this.#subject.database
      .statement('select status, outputs, media_removed_at from requests where request_id = ?')
      .get(id) as Pick<RequestRow, 'status' | 'outputs' | 'media_removed_at'> | undefined
    if (!row || row.media_removed_at !== null) return
    if (row.status === 'COMPLETED' && !placesOf(row).includes(place)) return
    fail('what is deleted was due', `what ${place} has stored of ${id} is still wanted`)
  }

  /** Checks the acknowledgement of a job whose attempt has reported no outcome. */
  checkAck(requestId: string): void {
    const row = this.#subject.database
      .statement('select status from requests where request_id = ?')
      .get(requestId) as Pick<RequestRow, 'status'> | undefined
    if (!row || isTerminal(row.status)) return
    fail('a job is acknowledged once its outcome is stored', `${requestId} is ${row.status}`)
  }

  /** Checks that an acknowledged event was applied: an attempt's last report must not be lost. */
  checkApplied({ type, request_id: id, attempt_id: attempt, started_at: startedAt }: Event): void {
    if (type !== 'failed' && type !== 'released') return
    const row = this.#subject.database
      .statement('select * from requests where request_id = ?')
      .get(id) as RequestRow | undefined
    if (!row || isTerminal(row.status) || row.started_at! > startedAt!) return
    const isKnown = row.attempt_ids.split(' ').includes(attempt)
    const isOver = row.attempt_id !== attempt || (type === 'released' && row.status === 'IN_QUEUE')
    if (!isKnown || !isOver) fail('the end of an attempt is applied', `${id}, ${attempt}: ${type}`)
  }

  #addRequest(requestId: string): void {
    const { database, clients } = this.#subject
    const { metadata } = database
      .statement('select metadata from requests where request_id = ?')
      .get(requestId) as RequestRow
    const { action } = JSON.parse(metadata!) as { action: number }
    const submit = clients.submitted.get(action)!
    const isSoon = this.#subject.latest() - submit.at < 23 * 3_600_000
    if (isSoon && [...this.#requests.values()].includes(action)) {
      fail('a submit exists once', `action ${action} has a second request, ${requestId}`)
    }
    this.#requests.set(requestId, action)
  }

  #checkChange({ kind, id, before, after }: Change): void {
    const due = isoTime(this.#subject.latest())
    const invariant = 'what is deleted was due'
    if (kind === 'move' && !MOVES[before!]!.includes(after!)) {
      fail('a status moves only as it may', `${id}: ${before} to ${after}`)
    }
    if (kind === 'overtaken' && after! < before!) {
      fail('a later attempt holds a request', `${id}: of ${before}, then of ${after}`)
    }
    if (kind === 'end changed') fail('a request ends once', `${id}: ${before} to ${after}`)
    if (kind === 'webhook changed') fail('one webhook id and body a request', id)
    if (kind === 'outputs given up') {
      const isDue = before === 'FAILED' || (before === 'COMPLETED' && after! <= due)
      if (!isDue) fail(invariant, `the outputs of ${id}, ${before}, which expire at ${after}`)
    }
    if (kind === 'record gone') {
      const old = isoTime(this.#subject.latest() - RECORD_DAYS * DAY_MS)
      if (before === null || after === null || before > old) fail(invariant, `the record of ${id}`)
    }
    if (kind === 'file given up') {
      if (before! > due) fail(invariant, `the file ${id}, which expires at ${before}`)
      const user = this.#subject.database
        .statement(`select request_id from requests where file_id = ? and finished_at is null`)
        .get(id) as RequestRow | undefined
      if (user) fail(invariant, `the file ${id}, which ${user.request_id} needs`)
    }
  }

  #checkRequest(id: string): void {
    const { database } = this.#subject
    const row = database.statement('select * from requests where request_id = ?').get(id) as
      RequestRow | undefined
    const count = (table: string) =>
      (
        database.statement(`select count(*) as n from ${table} where request_id = ?`).get(id) as {
          n: number
        }
      ).n
    const [waiting, deliveries] = [count('outbox'), count('deliveries')]
    if (!row) {
      if (waiting + deliveries > 0) fail('no row is left over', `${id} is gone, its rows are not`)
      return
    }
    const { status } = row
    if (status === 'IN_QUEUE' && waiting === 0 && row.job_sequence === null) {
      fail('what waits has a job', `${id} is neither in the outbox nor with the broker`)
    }
    const marks = row.attempt_ids.split(' ').filter(Boolean)
    if (marks.length !== row.attempts || new Set(marks).size !== marks.length) {
      fail('an attempt starts once', `${id} has ${row.attempts}: ${row.attempt_ids}`)
    }
    if (isTerminal(status)) this.#checkEnd(row, waiting, deliveries)
    else if (deliveries > 0 || row.finished_at !== null) fail('only an end is told', id)
    this.#checkBill(row)
  }

  #checkEnd(row: RequestRow, waiting: number, deliveries: number): void {
    const { request_id: id, status } = row
    if (waiting > 0) fail('no row is left over', `${id} is ${status}, and in the outbox`)
    if (row.finished_at === null) fail('a request ends once', `${id} has no time of its end`)
    const expected = row.webhook_url === null ? 0 : 1
    if (deliveries !== expected) fail('every end is told', `${id} has ${deliveries} deliveries`)
    this.#checkReason(row)
    if (status !== 'COMPLETED' || row.media_removed_at !== null) return
    const { disk, factsOf } = this.#subject
    for (const [name, { place }] of filesOf(row)) {
      if (disk.stored.has(`outputs/${id}/${place}/${name}`)) continue
      fail('what is completed has its outputs', `${id} has no ${name}`)
    }
    const seconds = factsOf(row)?.seconds
    if (seconds !== undefined && seconds !== row.duration) {
      fail('what is completed has its outputs', `${id} lasts ${row.duration} s, not ${seconds}`)
    }
  }

  /** Checks that a request has failed for an actual reason. */
  #checkReason(row: RequestRow): void {
    const { clients, factsOf } = this.#subject
    const { request_id: id, error_code: code } = row
    const isDamaged = factsOf(row)?.isDamaged ?? code === 'INVALID_MEDIA'
    const isWrong =
      (code === 'CANCELED' && !clients.canceled.has(id)) ||
      (code === 'INVALID_MEDIA' && !isDamaged) ||
      (code === null && isDamaged) ||
      (code === 'MEDIA_FETCH_FAILED' && row.file_id !== null)
    if (isWrong) fail('a request fails for a reason', `${id}: ${code}, ${row.error_message}`)
  }

  #checkBill(row: RequestRow): void {
    const { database } = this.#subject
    const { request_id: id, status } = row
    const entries = database
      .statement('select * from ledger where reference = ?')
      .all(id) as LedgerRow[]
    const sum = (column: 'balance_change' | 'reserved_change') =>
      entries.reduce((total, entry) => total + entry[column], 0)
    const prompts =
      1 + ((JSON.parse(row.options) as { further_prompts?: string[] }).further_prompts?.length ?? 0)
    const isCharged = status === 'COMPLETED' && row.billing_status === 'deducted'
    const cost = isCharged ? Math.ceil(row.duration!) * prompts : 0
    if (sum('balance_change') !== -cost) {
      fail(
        'a request is charged once',
        `${id}, ${status}, cost ${-sum('balance_change')} s, not ${cost}`,
      )
    }
    if (isTerminal(status) && sum('reserved_change') !== 0) {
      fail('nothing is reserved for what is over', id)
    }
    if (sum('reserved_change') < 0) fail('ledger entries sum to the balance', id)
  }

  #checkAccount(id: string): void {
    const { database } = this.#subject
    const account = database
      .statement('select * from accounts where account_id = ?')
      .get(id) as AccountRow
    const entries = database
      .statement('select * from ledger where account_id = ?')
      .all(id) as LedgerRow[]
    let [balance, reserved] = [0, 0]
    for (const entry of entries) {
      balance += entry.balance_change
      reserved += entry.reserved_change
      const isKnown = this.#requests.has(entry.reference) || this.credits.has(entry.reference)
      if (!isKnown) fail('no ledger entry without its request', entry.reference)
    }
    const { balance_seconds, reserved_seconds } = account
    if (balance !== balance_seconds || reserved !== reserved_seconds) {
      const sums = `${balance} and ${reserved} reserved, not ${balance_seconds} and ${reserved_seconds}`
      fail('ledger entries sum to the balance', `${id} has ${sums}`)
    }
    const media = database.statement(MEDIA_SUMS).get({ id }) as Partial<AccountRow>
    if (
      media.media_held_bytes !== account.media_held_bytes ||
      media.media_held_files !== account.media_held_files ||
      media.media_reserved_bytes !== account.media_reserved_bytes
    ) {
      fail(
        'files and outputs sum to the media of the account',
        `${id} has ${JSON.stringify(media)}`,
      )
    }
    if (balance < 0 || reserved < 0 || balance < reserved) {
      fail('no account is overdrawn', `${id} has ${balance} s, ${reserved} s of it reserved`)
    }
  }
}

const MEDIA_SUMS = `select
  coalesce((select sum(file_size) from files
    where account_id = @id and media_removed_at is null), 0) +
  coalesce((select sum(media_bytes) from requests
    where account_id = @id and status = 'COMPLETED' and media_removed_at is null), 0)
    as media_held_bytes,
  (select count(*) from files where account_id = @id and media_removed_at is null)
    as media_held_files,
  coalesce((select sum(media_bytes) from requests
    where account_id = @id and status in ('IN_QUEUE', 'IN_PROGRESS')), 0) as media_reserved_bytes`

const filesOf = ({ outputs }: Pick<RequestRow, 'outputs'>) =>
  Object.entries(JSON.parse(outputs!) as Record<string, { place: string }>)

const placesOf = (row: Pick<RequestRow, 'outputs'>) => filesOf(row).map(([, { place }]) => place)

function fail(invariant: string, detail: string): never {
  throw new Violation(invariant, detail)
}
