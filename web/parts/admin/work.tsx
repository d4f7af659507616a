/** The requests of all accounts: running, waiting and ended. */

import type { components } from '../../../clients/typescript/api.ts'
import { mayAct, type Admin } from '../../state/admin.ts'
import { ConfirmedButton } from '../confirmed-button.tsx'
import { PastTime } from '../time.tsx'
import {
  AccountFilter,
  accountColumn,
  AdminLink,
  Figures,
  Share,
  spanText,
  State,
  StateChoice,
  type AdminState,
  type SectionProps,
} from './cells.tsx'
import { Charts } from './charts.tsx'
import { Paged } from './paged.tsx'
import { numberColumn, Table, type Column } from './table.tsx'

type Request = components['schemas']['AdminRequest']

const STATES = [
  ['', 'Under way'],
  ['COMPLETED', 'Completed'],
  ['FAILED', 'Failed'],
] as const

export function Work({ state, admin, filters }: SectionProps) {
  const { queue } = state.fleet
  const { state: shown = '', account } = filters
  const query = { ...(shown && { status: shown }), ...(account && { account_id: account }) }
  return (
    <>
      <Figures
        figures={[
          ['waiting', queue.waiting],
          ['in progress', queue.in_progress],
          ['the oldest waits', queue.waiting > 0 ? spanText(queue.oldest_seconds) : '–'],
          ['webhooks due', queue.webhooks_due],
        ]}
      />
      <Charts admin={admin} />
      <StateChoice label="State of requests" section="work" states={STATES} filters={filters} />
      <AccountFilter section="work" filters={filters} accounts={state.accounts} />
      <Paged<Request> key={JSON.stringify(query)} admin={admin} list="requests" filters={query}>
        {(rows) => (
          <Table
            caption="Requests"
            columns={columnsOf(state, admin, shown)}
            rows={rows}
            keyOf={({ request_id: id }) => id}
            empty={shown === '' ? 'Nothing runs or waits.' : 'There is none.'}
          />
        )}
      </Paged>
    </>
  )
}

function columnsOf(
  { accounts, fleet }: AdminState,
  admin: Admin,
  shown: string,
): Column<Request>[] {
  const modelOf = ({ separator, engine_id: id }: Request) =>
    separator ?? fleet.engines.find(({ engine_id: other }) => other === id)?.model ?? null
  return [
    { head: 'request', cell: (row) => <What request={row} />, by: promptsOf },
    accountColumn(accounts),
    { head: 'state', cell: (row) => <Progress request={row} />, by: ({ status }) => status },
    {
      head: 'submitted',
      cell: ({ created_at: at }) => <PastTime at={at} />,
      by: ({ created_at: at }) => at,
    },
    numberColumn('took', (row) => secondsOf(row, fleet.at), spanText),
    numberColumn('media', ({ duration }) => duration, spanText),
    {
      head: 'engine',
      cell: ({ engine_id: id }) => (id === null ? '–' : <AdminLink to="engines">{id}</AdminLink>),
      by: ({ engine_id: id }) => id,
    },
    { head: 'model', by: modelOf },
    ...(shown === '' && mayAct('operator') ? [cancelColumn(admin)] : []),
  ]
}

const promptsOf = ({ prompts }: Request): string => prompts.join(', ') || 'what is in it'

/** Returns the time since the submit, or since the start once the request has started. */
function secondsOf({ created_at, started_at, finished_at }: Request, now: string): number {
  return (Date.parse(finished_at ?? now) - Date.parse(started_at ?? created_at)) / 1_000
}

const What = ({ request }: { request: Request }) => (
  <>
    <strong>{promptsOf(request)}</strong>
    <small title={request.request_id}>
      {request.file_name} · <code>{request.request_id}</code>
    </small>
  </>
)

function Progress({
  request: { status, progress, attempts, error_code, error_message },
}: {
  request: Request
}) {
  return (
    <>
      <State state={status} />
      {status === 'IN_PROGRESS' && progress !== null && <Share value={progress} label="how far" />}
      {attempts > 1 && <small>attempt {attempts}</small>}
      {error_code !== null && (
        <small>
          {error_code}: {error_message}
        </small>
      )}
    </>
  )
}

const cancelColumn = (admin: Admin): Column<Request> => ({
  head: 'change',
  cell: ({ request_id: id }) => (
    <ConfirmedButton
      action="Cancel"
      target={id}
      act={() => admin.act(`requests/${encodeURIComponent(id)}/cancel`).then(() => null)}
    />
  ),
})
