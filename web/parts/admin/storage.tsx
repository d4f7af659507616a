import { sizeText } from '../../state/choose-files.ts'
import { accountColumn, Figures, Share, type AdminState, type SectionProps } from './cells.tsx'
import { numberColumn, Table, type Column } from './table.tsx'
import { usageOf, useUsage, type Usage } from './usage.ts'

type Account = AdminState['accounts'][number]

/** How much is stored, for whom, and when the storage will be full. */
export function Storage({ state, admin }: SectionProps) {
  const { fleet, accounts } = state
  const usage = useUsage(admin)
  const { storage } = fleet
  const free = storage.free_bytes === null ? null : Math.max(0, storage.free_bytes)
  return (
    <>
      <Figures
        figures={[
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
  return [
    accountColumn(accounts),
    numberColumn('held', (row) => row.media_bytes, sizeText),
    {
      head: 'of all',
      by: ({ media_bytes: bytes }) => bytes,
      cell: ({ media_bytes: bytes, name }) => (
        <Share value={bytes / (fleet.storage.held_bytes || 1)} label={`share of ${name}`} />
      ),
    },
    numberColumn('reserved', (row) => row.media_reserved_bytes, sizeText),
    numberColumn('stored in 24 hours', (row) => usageOf(usage, row)?.added_bytes ?? null, sizeText),
    ...quotaColumns((row) => usageOf(usage, row)?.media_bytes_max ?? null),
  ]
}

/** How much media each account may hold, and the share that it uses. */
function quotaColumns(quotaOf: (account: Account) => number | null): Column<Account>[] {
  const usedShare = (account: Account) => {
    const quota = quotaOf(account)
    return quota && (account.media_bytes + account.media_reserved_bytes) / quota
  }
  return [
    numberColumn('quota', quotaOf, sizeText),
    {
      head: 'of its quota',
      by: usedShare,
      cell: (account) => (
        <Share value={usedShare(account)} label={`share of the quota of ${account.name}`} />
      ),
    },
  ]
}

const addedTo = ({ data }: Usage): number => data.reduce((sum, use) => sum + use.added_bytes, 0)

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
