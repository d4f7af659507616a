import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { DAY_MS } from '../../../shared/durations.ts'
import { messageOf } from '../../state/credential.ts'
import {
  createEndpoint,
  endpointCalls,
  readEndpoints,
  type Endpoint,
  type EndpointDelivery,
  type NewEndpoint,
} from '../../state/developers.ts'
import { numberColumn, Table, type Column } from '../admin/table.tsx'
import { ConfirmedButton } from '../confirmed-button.tsx'
import { InlineForm, fieldText } from '../inline-form.tsx'
import { Problem } from '../problem.tsx'
import { Time } from '../time.tsx'
import { Secret } from './secret.tsx'

/** The addresses that receive the events of all requests of the account. */
export function Endpoints() {
  const [endpoints, setEndpoints] = useState<Endpoint[] | null>(null)
  const [made, setMade] = useState<NewEndpoint | null>(null)
  const [shown, setShown] = useState<{ endpoint: Endpoint; deliveries: EndpointDelivery[] } | null>(
    null,
  )
  const [problem, setProblem] = useState('')
  const attempt = async (work: () => Promise<void>) => {
    setProblem('')
    try {
      await work()
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  const refresh = () => attempt(async () => setEndpoints(await readEndpoints()))
  useEffect(() => void refresh(), [])
  const change = async (work: Promise<Endpoint | NewEndpoint | void>) => {
    setMade(null)
    setShown(null)
    await attempt(async () => {
      const endpoint = await work
      setMade(endpoint && 'signing_secret' in endpoint ? endpoint : null)
      setEndpoints(await readEndpoints())
    })
    return null
  }
  const show = (endpoint: Endpoint) =>
    void attempt(async () => {
      const { data: deliveries } = await endpointCalls(endpoint).deliveries()
      setShown({ endpoint, deliveries })
    })
  return (
    <section aria-labelledby="endpoints">
      <h2 id="endpoints">Webhook endpoints</h2>
      <p>
        Each receives the events of all your requests.{' '}
        <a href="docs/how-to/webhooks.html#endpoints">How endpoints work</a>
      </p>
      {made && <Secret name={made.url} secret={made.signing_secret} />}
      <Problem>{problem}</Problem>
      <EndpointForm create={(url) => void change(createEndpoint({ url }))} />
      <Table
        caption="Endpoints of your account"
        columns={columnsOf(change, show)}
        rows={endpoints ?? []}
        keyOf={(endpoint) => endpoint.endpoint_id}
        empty={endpoints ? 'none' : 'not read yet'}
      />
      {shown && (
        <Table
          caption={`Deliveries to ${shown.endpoint.url}`}
          columns={DELIVERY_COLUMNS}
          rows={shown.deliveries}
          keyOf={(delivery) => delivery.webhook_id}
        />
      )}
    </section>
  )
}

const EndpointForm = ({ create }: { create(url: string): void }) => (
  <InlineForm label="Create an endpoint" send={(fields) => create(fieldText(fields, 'url'))}>
    <label>
      Address
      <input name="url" type="url" required placeholder="https://example.com/hook" />
    </label>
    <button>Create an endpoint</button>
  </InlineForm>
)

type Change = (work: Promise<Endpoint | NewEndpoint | void>) => Promise<null>

const columnsOf = (change: Change, show: (endpoint: Endpoint) => void): Column<Endpoint>[] => [
  {
    head: 'address',
    by: (row) => row.url,
    cell: (row) => (
      <>
        {row.url}
        <small class="quiet">{row.description}</small>
      </>
    ),
  },
  { head: 'events', cell: (row) => <small>{row.events.join(' ')}</small> },
  { head: 'state', cell: stateOf },
  { head: 'change', cell: (row) => <Changes row={row} change={change} show={show} /> },
]

const stateOf = ({ enabled, disabled_reason: reason, failing_since: since }: Endpoint) => {
  if (!enabled) return <span class="ended">disabled {reason && <small>{reason}</small>}</span>
  if (since === null) return 'enabled'
  return (
    <>
      fails since <Time at={since} />
    </>
  )
}

interface ChangesProps {
  row: Endpoint
  change: Change
  show(endpoint: Endpoint): void
}

function Changes({ row, change, show }: ChangesProps) {
  const calls = endpointCalls(row)
  const button = (action: string, act: () => Promise<ComponentChildren>) => (
    <ConfirmedButton action={action} target={row.url} act={act} />
  )
  return (
    <>
      <button type="button" aria-label={`Deliveries to ${row.url}`} onClick={() => show(row)}>
        Deliveries
      </button>
      {button('Test', async () => {
        const { delivered, status_code: status, error } = await calls.test()
        return delivered ? `delivered, ${status}` : error
      })}
      {row.enabled &&
        button('Replay failed of a day', async () => {
          const { replayed } = await calls.replay(new Date(Date.now() - DAY_MS).toISOString())
          return `${replayed} sent again`
        })}
      {button(row.enabled ? 'Disable' : 'Enable', () => change(calls.enable(!row.enabled)))}
      {button('Rotate', () => change(calls.rotate()))}
      {button('Delete', () => change(calls.remove()))}
    </>
  )
}

const DELIVERY_COLUMNS: Column<EndpointDelivery>[] = [
  { head: 'at', by: (row) => row.created_at, cell: (row) => <Time at={row.created_at} /> },
  { head: 'request', cell: ({ request_id: id }) => <a href={`#request=${id}`}>{id}</a> },
  { head: 'event', by: (row) => row.type },
  numberColumn('attempts', (row) => row.attempts),
  { head: 'state', cell: (row) => row.last_error ?? row.delivery_status },
]
