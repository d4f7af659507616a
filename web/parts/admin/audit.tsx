import type { components } from '../../../clients/typescript/api.ts'
import { Time } from '../time.tsx'
import { AccountFilter, AccountLink, AdminLink, type SectionProps } from './cells.tsx'
import { Paged } from './paged.tsx'
import { Table } from './table.tsx'

type Change = components['schemas']['AdminChange']

/** The audit log. Each action is a link that filters by it. */
export function Audit({ state: { accounts }, admin, filters }: SectionProps) {
  const { account, action } = filters
  const query = { ...(account && { account_id: account }), ...(action && { action }) }
  return (
    <>
      <AccountFilter section="audit" filters={filters} accounts={accounts} />
      {action && (
        <p class="filter">
          Only <code>{action}</code>.{' '}
          <AdminLink to="audit" filters={account ? { account } : {}}>
            Show all actions
          </AdminLink>
        </p>
      )}
      <Paged<Change> key={JSON.stringify(query)} admin={admin} list="changes" filters={query}>
        {(rows) => (
          <Table
            caption="Changes"
            rows={rows}
            keyOf={({ created_at: at }, i) => `${at} ${i}`}
            columns={[
              {
                head: 'at',
                by: ({ created_at: at }) => at,
                cell: ({ created_at: at }) => <Time at={at} />,
              },
              {
                head: 'action',
                by: ({ action }) => action,
                cell: ({ action }) => (
                  <AdminLink to="audit" filters={{ ...filters, action }}>
                    {action}
                  </AdminLink>
                ),
              },
              {
                head: 'account',
                by: ({ account_id: id }) => id,
                cell: ({ account_id: id }) =>
                  id === null ? '–' : <AccountLink id={id} accounts={accounts} />,
              },
              { head: 'key or session', by: ({ key_id: id }) => id },
              {
                head: 'by',
                by: (change) => `${adminName(change)} ${placeOf(change)}`,
                cell: (change) => <By change={change} />,
              },
              { head: 'what was set', cell: ({ details }) => <code>{details}</code> },
            ]}
          />
        )}
      </Paged>
    </>
  )
}

const adminName = ({ admin_name: name, admin_subject: subject }: Change) => name ?? subject ?? ''

const placeOf = ({ tool, origin }: Change) => `${tool.replaceAll('_', ' ')}, ${origin}`

const By = ({ change }: { change: Change }) => (
  <>
    {change.admin_subject !== null && <strong>{adminName(change)}</strong>}
    <small>
      {change.admin_subject} {placeOf(change)}
    </small>
  </>
)
