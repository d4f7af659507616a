/** What runs and waits, of all accounts, and what ended. */

import type { components } from '../../../clients/typescript/api.ts'
import { mayAct, type Admin } from '../../state/admin.ts'
import { ConfirmedButton } from '../confirmed-button.tsx'
import { PastTime } from '../time.tsx'
import {
  AccountFilter,
  AccountLink,
  AdminLink,
  Figures,
  Share,
  spanText,
  State,
  type AdminState,
  type SectionProps,
} from './cells.tsx'
import { Charts } from './charts.tsx'
import { Paged } from './paged.tsx'
import { Table, type Column } from './table.tsx'

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
        of={[
          ['waiting', queue.waiting],
          ['in progress', queue.in_progress],
          ['the oldest waits', queue.waiting > 0 ? spanText(queue.oldest_seconds) : '–'],
          ['webhooks due', queue.webhooks_due],
        ]}
      />
      <Charts admin={admin} />
      <nav class="choice" aria-label="State of requests">
        {STATES.map(([key, word]) => (
          <AdminLink
            key={key}
            to="work"
            filters={{ ...(account && { account }), ...(key && { state: key }) }}
            isCurrent={key === shown}
          >
            {word}
          </AdminLink>
        ))}
      </nav>
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
  const nameOf = ({ account_id: id }: Request) =>
    accounts.find(({ account_id: other }) => other === id)?.name ?? id
  return [
    { head: 'request', cell: (row) => <What of={row} />, by: promptsOf },
    {
      head: 'account',
      cell: ({ account_id: id }) => <AccountLink id={id} accounts={accounts} />,
      by: nameOf,
    },
    { head: 'state', cell: (row) => <Progress of={row} />, by: ({ status }) => status },
    {
      head: 'submitted',
      cell: ({ created_at: at }) => <PastTime of={at} />,
      by: ({ created_at: at }) => at,
    },
    {
      head: 'took',
      isNumber: true,
      cell: (row) => textOf(secondsOf(row, fleet.at)),
      by: (row) => secondsOf(row, fleet.at),
    },
    {
      head: 'media',
      isNumber: true,
      cell: ({ duration }) => textOf(duration),
      by: ({ duration }) => duration,
    },
    {
      head: 'engine',
      cell: ({ engine_id: id }) => (id === null ? '–' : <AdminLink to="engines">{id}</AdminLink>),
      by: ({ engine_id: id }) => id,
    },
    { head: 'model', cell: (row) => modelOf(row) ?? '–', by: modelOf },
    ...(shown === '' && mayAct('operator') ? [cancelColumn(admin)] : []),
  ]
}

const promptsOf = ({ prompts }: Request): string => prompts.join(', ') || 'what is in it'

const textOf = (seconds: number | null): string => (seconds === null ? '–' : spanText(seconds))

/** Of a request that waits: since its submit; of one that has started: since then. */
function secondsOf({ created_at, started_at, finished_at }: Request, now: string): number {
  return (Date.parse(finished_at ?? now) - Date.parse(started_at ?? created_at)) / 1_000
}

const What = ({ of }: { of: Request }) => (
  <>
    <strong>{promptsOf(of)}</strong>
    <small title={of.request_id}>
      {of.file_name} · <code>{of.request_id}</code>
    </small>
  </>
)

function Progress({
  of: { status, progress, attempts, error_code, error_message },
}: {
  of: Request
}) {
  return (
    <>
      <State of={status} />
      {status === 'IN_PROGRESS' && progress !== null && <Share of={progress} label="how far" />}
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
      of={id}
      act={() => admin.act(`requests/${encodeURIComponent(id)}/cancel`).then(() => null)}
    />
  ),
})
