/** Accounts with what they use and hold, and their keys. */

import type { components } from '../../../clients/typescript/api.ts'
import { DAY_MS } from '../../../shared/durations.ts'
import type { Admin } from '../../state/admin.ts'
import { sizeText } from '../../state/choose-files.ts'
import { save, saveProblem } from '../../state/save.ts'
import { PastTime } from '../time.tsx'
import { AccountFilter, AccountLink, AdminLink, State, type SectionProps } from './cells.tsx'
import { AccountForm, CreditForm, KeyActions, KeyForm, LimitsForm } from './admin-forms.tsx'
import { Table, type Column } from './table.tsx'
import { useUsage, type Usage } from './usage.ts'

type Account = components['schemas']['Account']

export function Accounts({ state, admin, filters }: SectionProps) {
  const { accounts } = state
  const usage = useUsage(admin)
  const { account } = filters
  const shown = accounts.filter(({ account_id: id }) => account === undefined || id === account)
  return (
    <>
      {account !== undefined && (
        <p class="filter">
          One account. <AdminLink to="accounts">Show all accounts</AdminLink>
        </p>
      )}
      <Table
        caption="Accounts"
        columns={columnsOf(usage)}
        rows={shown}
        keyOf={({ account_id: id }) => id}
      />
      {account !== undefined &&
        shown.map((one) => <LimitsForm key={one.account_id} account={one} admin={admin} />)}
      <p>
        <button onClick={() => void saveUsage(admin, account)}>Download use by day (CSV)</button>
        <span role="alert" class="problem">
          {saveProblem.value}
        </span>
      </p>
      <AccountForm admin={admin} />
      <CreditForm accounts={accounts} admin={admin} />
    </>
  )
}

/** Saves what each account used on each of the last 366 days. @param account only this one */
function saveUsage(admin: Admin, account: string | undefined): Promise<void> {
  const from = new Date(Date.now() - 365 * DAY_MS).toISOString().slice(0, 10)
  const query = new URLSearchParams({
    format: 'csv',
    from,
    ...(account !== undefined && { account_id: account }),
  })
  return save('usage.csv', () => admin.file(`usage/days?${query}`))
}

function columnsOf(usage: Usage | null): Column<Account>[] {
  const useOf = ({ account_id: id }: Account) =>
    usage?.data.find(({ account_id: other }) => other === id)
  const days = usage ? ` in ${usage.days} days` : ''
  const figure = (head: string, by: (row: Account) => number | null): Column<Account> => ({
    head,
    by,
    isNumber: true,
    cell: (row) => by(row)?.toLocaleString() ?? '–',
  })
  return [
    {
      head: 'account',
      by: ({ name }) => name,
      cell: ({ account_id: id, name }) => (
        <>
          <strong>{name}</strong>
          <small>
            <code>{id}</code>
          </small>
        </>
      ),
    },
    { head: 'state', by: ({ status }) => status, cell: ({ status }) => <State of={status} /> },
    {
      head: 'balance',
      isNumber: true,
      by: (row) => (row.metered ? row.balance_seconds : null),
      cell: (row) =>
        row.metered ? `${row.balance_seconds} s, ${row.reserved_seconds} s reserved` : '–',
    },
    figure(`separated${days}, s`, (row) => useOf(row)?.audio_seconds ?? null),
    figure('completed', (row) => useOf(row)?.completed ?? null),
    figure('failed', (row) => useOf(row)?.failed ?? null),
    {
      head: 'media',
      isNumber: true,
      by: ({ media_bytes: bytes }) => bytes,
      cell: ({ media_bytes: bytes }) => sizeText(bytes),
    },
    { head: 'its', cell: ({ account_id: id, name }) => <Links id={id} name={name} /> },
  ]
}

/** The sections that have something of an account, and how its link is called. */
const LINKS = { work: 'work', keys: 'keys', audit: 'audit', accounts: 'limits' }

const Links = ({ id, name }: { id: string; name: string }) => (
  <span class="links">
    {Object.entries(LINKS).map(([section, word]) => (
      <AdminLink key={section} to={section} filters={{ account: id }} label={`${word} of ${name}`}>
        {word}
      </AdminLink>
    ))}
  </span>
)

export function Keys({ state: { accounts, keys }, admin, filters }: SectionProps) {
  const { account } = filters
  const shown = keys.filter(({ account_id: id }) => account === undefined || id === account)
  return (
    <>
      <AccountFilter section="keys" filters={filters} accounts={accounts} />
      <Table
        caption="Keys"
        rows={shown}
        keyOf={({ key_id: id }) => id}
        columns={[
          {
            head: 'key',
            by: ({ name }) => name,
            cell: ({ key_id: id, name }) => (
              <>
                <strong>{name || '–'}</strong>
                <small>
                  <code>{id}</code>
                </small>
              </>
            ),
          },
          {
            head: 'account',
            by: ({ account_id: id }) => id,
            cell: ({ account_id: id }) => <AccountLink id={id} accounts={accounts} />,
          },
          { head: 'scopes', cell: ({ scopes }) => scopes.join(' ') },
          {
            head: 'state',
            by: ({ revoked_at: at }) => at,
            cell: ({ revoked_at: at }) => <State of={at === null ? 'valid' : 'revoked'} />,
          },
          {
            head: 'last used',
            by: ({ last_used_at: at }) => at,
            cell: ({ last_used_at: at }) => (at === null ? 'never' : <PastTime of={at} />),
          },
          {
            head: 'change',
            cell: ({ key_id: id, revoked_at: at }) =>
              at === null && <KeyActions keyId={id} admin={admin} />,
          },
        ]}
      />
      <KeyForm accounts={accounts} admin={admin} />
    </>
  )
}
