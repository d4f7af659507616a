import { sizeText } from '../../state/choose-files.ts'
import { AccountLink, Figures, Share, type AdminState, type SectionProps } from './cells.tsx'
import { Table, type Column } from './table.tsx'
import { useUsage, type Usage } from './usage.ts'

type Account = AdminState['accounts'][number]

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
    ...quotaColumns((id) => useOf(id)?.media_bytes_max ?? null),
  ]
}

/** What each account may hold, and how much of it is taken. */
function quotaColumns(quotaOf: (id: string) => number | null): Column<Account>[] {
  const takenOf = ({
    account_id: id,
    media_bytes: held,
    media_reserved_bytes: reserved,
  }: Account) => {
    const most = quotaOf(id)
    return most === null ? null : (held + reserved) / most
  }
  return [
    {
      head: 'quota',
      isNumber: true,
      by: ({ account_id: id }) => quotaOf(id),
      cell: ({ account_id: id }) => {
        const most = quotaOf(id)
        return most === null ? '–' : sizeText(most)
      },
    },
    {
      head: 'of its quota',
      by: takenOf,
      cell: (account) => (
        <Share of={takenOf(account)} label={`share of the quota of ${account.name}`} />
      ),
    },
  ]
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
    days > 3_650
      ? 'and there is room for over ten years'
      : `and is full ${days < 1 ? 'within a day' : `in about ${Math.round(days)} days`}`
  return `${rate}, ${when}, if every day is like the last one.`
}
