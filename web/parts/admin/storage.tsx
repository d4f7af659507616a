import { sizeText } from '../../state/choose-files.ts'
import { AccountLink, Figures, Share, type AdminState, type SectionProps } from './cells.tsx'
import { Table, type Column } from './table.tsx'
import { useUsage, type Usage } from './usage.ts'

type Account = AdminState['accounts'][number]
type AccountUse = Usage['data'][number]

/** A forecast further ahead would say nothing. */
const DAYS_SAID_MAX = 3_650

/** What is stored, for whom, and when the place is full if it goes on so. */
export function Storage({ state, admin }: SectionProps) {
  const { fleet, accounts } = state
  const usage = useUsage(admin)
  const { storage } = fleet
  const free = storage.free_bytes === null ? null : Math.max(0, storage.free_bytes)
  return (
    <>
      <Figures
        of={[
          ['held', sizeText(storage.held_bytes)],
          ['reserved for outputs', sizeText(storage.reserved_bytes)],
          ['room', free === null ? 'a bucket’s' : sizeText(free)],
          ...(usage
            ? ([
                ['stored in 24 hours', sizeText(addedTo(usage))],
                ['expires in 24 hours', sizeText(usage.expiring_bytes)],
              ] as const)
            : []),
        ]}
      />
      <p>
        Media lies in {storage.place}. {usage && forecast(usage, free)}
      </p>
      <Table
        caption="Storage by account"
        rows={accounts.filter(({ status }) => status !== 'deleted')}
        keyOf={({ account_id: id }) => id}
        columns={columnsOf(state, usage)}
      />
    </>
  )
}

function columnsOf({ fleet, accounts }: AdminState, usage: Usage | null): Column<Account>[] {
  const useOf = (id: string) => usage?.data.find(({ account_id: other }) => other === id)
  const addedOf = (id: string): number | null => useOf(id)?.added_bytes ?? null
  return [
    {
      head: 'account',
      by: ({ name }) => name,
      cell: ({ account_id: id }) => <AccountLink id={id} accounts={accounts} />,
    },
    {
      head: 'held',
      isNumber: true,
      by: ({ media_bytes: bytes }) => bytes,
      cell: ({ media_bytes: bytes }) => sizeText(bytes),
    },
    {
      head: 'of all',
      by: ({ media_bytes: bytes }) => bytes,
      cell: ({ media_bytes: bytes, name }) => (
        <Share of={bytes / (fleet.storage.held_bytes || 1)} label={`share of ${name}`} />
      ),
    },
    {
      head: 'reserved',
      isNumber: true,
      by: ({ media_reserved_bytes: bytes }) => bytes,
      cell: ({ media_reserved_bytes: bytes }) => sizeText(bytes),
    },
    {
      head: 'stored in 24 hours',
      isNumber: true,
      by: ({ account_id: id }) => addedOf(id),
      cell: ({ account_id: id }) => {
        const added = addedOf(id)
        return added === null ? '–' : sizeText(added)
      },
    },
    ...quotaColumns(useOf),
  ]
}

function quotaColumns(useOf: (id: string) => AccountUse | undefined): Column<Account>[] {
  const quotaOf = ({ account_id: id }: Account) => useOf(id)?.media_bytes_max ?? null
  const daysOf = (account: Account) => daysToQuota(account, useOf(account.account_id))
  return [
    {
      head: 'quota',
      isNumber: true,
      by: quotaOf,
      cell: (account) => {
        const most = quotaOf(account)
        return most === null ? '–' : sizeText(most)
      },
    },
    {
      head: 'reaches it in',
      isNumber: true,
      by: daysOf,
      cell: (account) => {
        const days = daysOf(account)
        return days === null ? '–' : daysText(days)
      },
    },
  ]
}

/** Linear, as the forecast; null if it does not come nearer, or there is no quota. */
function daysToQuota(account: Account, use: AccountUse | undefined): number | null {
  if (!use || use.media_bytes_max === null) return null
  const { media_bytes: held, media_reserved_bytes: reserved } = account
  const growth = use.added_bytes - use.expiring_bytes
  if (growth <= 0) return null
  return Math.max(0, use.media_bytes_max - held - reserved) / growth
}

/** For example `about 12 days`. */
function daysText(days: number): string {
  if (days > DAYS_SAID_MAX) return 'over ten years'
  return days < 1 ? 'a day' : `about ${Math.round(days)} days`
}

const addedTo = ({ data }: Usage): number => data.reduce((sum, each) => sum + each.added_bytes, 0)

/** Linear: each day like the last, less what expires in the next. */
function forecast(usage: Usage, free: number | null): string {
  const growth = addedTo(usage) - usage.expiring_bytes
  if (growth <= 0) return 'It does not grow: as much expires as is stored.'
  const rate = `It grows by ${sizeText(growth)} a day`
  if (free === null) return `${rate}.`
  const days = free / growth
  const when =
    days > DAYS_SAID_MAX
      ? 'and there is room for over ten years'
      : `and is full ${days < 1 ? 'within' : 'in'} ${daysText(days)}`
  return `${rate}, ${when}, if every day is like the last one.`
}
