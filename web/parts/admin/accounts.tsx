/** Accounts with their usage and media, and their keys. */

import type { components } from '../../../clients/typescript/api.ts'
import { DAY_MS } from '../../../shared/durations.ts'
import type { Admin } from '../../state/admin.ts'
import { sizeText } from '../../state/choose-files.ts'
import { save, saveProblem } from '../../state/save.ts'
import { Problem } from '../problem.tsx'
import { PastTime } from '../time.tsx'
import { AccountFilter, accountColumn, AdminLink, State, type SectionProps } from './cells.tsx'
import { AccountForm, CreditForm, KeyActions, KeyForm, LimitsForm } from './admin-forms.tsx'
import { numberColumn, Table, type Column } from './table.tsx'
import { usageOf, useUsage, type Usage } from './usage.ts'

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
        shown.map((row) => <LimitsForm key={row.account_id} account={row} admin={admin} />)}
      <p>
        <button onClick={() => void saveUsage(admin, account)}>Download use by day (CSV)</button>
      </p>
      <Problem>{saveProblem.value}</Problem>
      <AccountForm admin={admin} />
      <CreditForm accounts={accounts} admin={admin} />
    </>
  )
}

/**
 * Saves the usage of each account by day, for the last 366 days.
 * @param account only this one
 */
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
  const days = usage ? ` in ${usage.days} days` : ''
  return [
    {
      head: 'account',
      by: ({ name }) => name,
      cell: ({ account_id: id, name }) => <NameAndId name={name} id={id} />,
    },
    { head: 'state', by: ({ status }) => status, cell: ({ status }) => <State state={status} /> },
    {
      head: 'balance',
      isNumber: true,
      by: (row) => (row.metered ? row.balance_seconds : null),
      cell: (row) =>
        row.metered ? `${row.balance_seconds} s, ${row.reserved_seconds} s reserved` : '–',
    },
    numberColumn(`separated${days}, s`, (row) => usageOf(usage, row)?.audio_seconds ?? null),
    numberColumn('completed', (row) => usageOf(usage, row)?.completed ?? null),
    numberColumn('failed', (row) => usageOf(usage, row)?.failed ?? null),
    numberColumn('media', (row) => row.media_bytes, sizeText),
    { head: 'its', cell: ({ account_id: id, name }) => <Links id={id} name={name} /> },
  ]
}

/** The sections that can be filtered by account, and the words of their links. */
const LINKS = { work: 'work', keys: 'keys', audit: 'audit', accounts: 'limits' }

const NameAndId = ({ name, id }: { name: string; id: string }) => (
  <>
    <strong>{name}</strong>
    <small>
      <code>{id}</code>
    </small>
  </>
)

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
            cell: ({ key_id: id, name }) => <NameAndId name={name || '–'} id={id} />,
          },
          accountColumn<SectionProps['state']['keys'][number]>(accounts),
          { head: 'scopes', cell: ({ scopes }) => scopes.join(' ') },
          {
            head: 'state',
            by: ({ revoked_at: at }) => at,
            cell: ({ revoked_at: at }) => <State state={at === null ? 'valid' : 'revoked'} />,
          },
          {
            head: 'last used',
            by: ({ last_used_at: at }) => at,
            cell: ({ last_used_at: at }) => (at === null ? 'never' : <PastTime at={at} />),
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
