import type { components } from '../../../clients/typescript/api.ts'
import { mayAct, type Admin } from '../../state/admin.ts'
import { ConfirmedButton } from '../confirmed-button.tsx'
import { PastTime, Time } from '../time.tsx'
import { accountColumn, State, StateChoice, type AdminState, type SectionProps } from './cells.tsx'
import { Paged } from './paged.tsx'
import { numberColumn, Table, type Column } from './table.tsx'

type Delivery = components['schemas']['AdminDelivery']

const STATES = [
  ['', 'All'],
  ['failed', 'Failed'],
  ['pending', 'Waiting'],
] as const

/** Webhook deliveries, one row for each receiver, newest first. */
export function Deliveries({ state: { accounts }, admin, filters }: SectionProps) {
  const { state = '' } = filters
  return (
    <>
      <StateChoice
        label="State of webhooks"
        section="deliveries"
        states={STATES}
        filters={filters}
      />
      <Paged<Delivery>
        key={state}
        admin={admin}
        list="deliveries"
        filters={state ? { status: state } : {}}
      >
        {(rows) => (
          <Table
            caption="Webhooks"
            columns={columnsOf(accounts, admin)}
            rows={rows}
            keyOf={({ webhook_id: id }) => id}
            empty={state === '' ? 'No webhook was sent.' : 'There is none.'}
          />
        )}
      </Paged>
    </>
  )
}

const columnsOf = (accounts: AdminState['accounts'], admin: Admin): Column<Delivery>[] => [
  {
    head: 'webhook',
    by: ({ delivery_status: status }) => status,
    cell: ({ delivery_status: status }) => <State state={status} />,
  },
  {
    head: 'request',
    by: ({ request_id: id }) => id,
    cell: ({ request_id: id }) => <code>{id}</code>,
  },
  accountColumn(accounts),
  { head: 'receiver', by: ({ host }) => host, cell: (row) => <Receiver delivery={row} /> },
  {
    head: 'made',
    by: ({ created_at: at }) => at,
    cell: ({ created_at: at }) => <PastTime at={at} />,
  },
  numberColumn('attempts', ({ attempts }) => attempts),
  {
    head: 'response',
    by: ({ last_error: error }) => error,
    cell: (row) => <Outcome delivery={row} />,
  },
  {
    head: 'change',
    cell: (row) =>
      mayResend(row) && (
        <ConfirmedButton
          action="Send again"
          target={`the webhook of ${row.request_id}`}
          act={async () => {
            await admin.act(`requests/${encodeURIComponent(row.request_id)}/redeliver`)
            return 'It is being sent.'
          }}
        />
      ),
  },
]

const Receiver = ({ delivery: { host, endpoint_id: id } }: { delivery: Delivery }) => (
  <>
    {host}
    {id !== null && (
      <small>
        endpoint <code>{id}</code>
      </small>
    )}
  </>
)

const Outcome = ({ delivery }: { delivery: Delivery }) => (
  <>
    {delivery.last_error ?? (delivery.delivered_at === null ? '–' : 'delivered')}
    {delivery.delivered_at !== null && (
      <small>
        <PastTime at={delivery.delivered_at} />
      </small>
    )}
    {delivery.next_attempt_at !== null && (
      <small>
        next attempt: <Time at={delivery.next_attempt_at} />
      </small>
    )}
  </>
)

/** The account replays deliveries to its endpoints itself. */
const mayResend = ({ delivery_status: status, endpoint_id: endpoint }: Delivery): boolean =>
  endpoint === null && (status === 'failed' || status === 'delivered') && mayAct('operator')
