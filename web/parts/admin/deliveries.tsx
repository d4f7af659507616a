import type { components } from '../../../clients/typescript/api.ts'
import { mayAct } from '../../state/admin.ts'
import { ConfirmedButton } from '../confirmed-button.tsx'
import { PastTime } from '../time.tsx'
import { AccountLink, State, type SectionProps } from './cells.tsx'
import { Paged } from './paged.tsx'
import { Table } from './table.tsx'

type Delivery = components['schemas']['AdminDelivery']

/** Tries to deliver webhooks: those of a page that failed first, then the latest first. */
export const Deliveries = ({ state: { accounts }, admin }: SectionProps) => (
  <Paged<Delivery> admin={admin} list="deliveries" filters={{}}>
    {(rows) => (
      <Table
        caption="Tries to deliver webhooks"
        rows={failedFirst(rows)}
        keyOf={({ request_id: id, started_at: at }) => `${id} ${at}`}
        empty="No webhook was sent."
        columns={[
          {
            head: 'webhook',
            by: ({ delivery_status: status }) => status,
            cell: ({ delivery_status: status }) => <State of={status} />,
          },
          {
            head: 'request',
            by: ({ request_id: id }) => id,
            cell: ({ request_id: id }) => <code>{id}</code>,
          },
          {
            head: 'account',
            by: ({ account_id: id }) => id,
            cell: ({ account_id: id }) => <AccountLink id={id} accounts={accounts} />,
          },
          { head: 'receiver', by: ({ host }) => host, cell: ({ host }) => host },
          {
            head: 'tried',
            by: ({ started_at: at }) => at,
            cell: ({ started_at: at }) => <PastTime of={at} />,
          },
          {
            head: 'took',
            isNumber: true,
            by: ({ duration_ms: ms }) => ms,
            cell: ({ duration_ms: ms }) => `${ms} ms`,
          },
          {
            head: 'answer',
            by: ({ error }) => error,
            cell: ({ error, status_code: code }) => error ?? `delivered, ${code}`,
          },
          {
            head: 'change',
            cell: ({ request_id: id, delivery_status: status }) =>
              mayResend(status) && (
                <ConfirmedButton
                  action="Send again"
                  of={`the webhook of ${id}`}
                  act={async () => {
                    await admin.act(`requests/${encodeURIComponent(id)}/redeliver`)
                    return 'It is being sent.'
                  }}
                />
              ),
          },
        ]}
      />
    )}
  </Paged>
)

const mayResend = (status: Delivery['delivery_status']): boolean =>
  (status === 'failed' || status === 'delivered') && mayAct('operator')

const failedFirst = (rows: readonly Delivery[]): Delivery[] => {
  const isFailed = ({ delivery_status: status }: Delivery) => status === 'failed'
  return rows.toSorted((a, b) => Number(isFailed(b)) - Number(isFailed(a)))
}
