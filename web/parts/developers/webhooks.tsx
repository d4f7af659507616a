import { useEffect, useState } from 'preact/hooks'
import type { WebhookTestResult } from '../../../clients/typescript/client.ts'
import { currentClient, messageOf } from '../../state/credential.ts'
import { readAttempts, type Attempt } from '../../state/developers.ts'
import { numberColumn, Table, type Column } from '../admin/table.tsx'
import { CopyButton } from '../copy-button.tsx'
import { InlineForm, fieldText } from '../inline-form.tsx'
import { Problem } from '../problem.tsx'
import { Time } from '../time.tsx'

/** Tests a receiver, and lists the attempts to deliver the account's webhooks. */
export function Webhooks() {
  const [attempts, setAttempts] = useState<Attempt[] | null>(null)
  const [tests, setTests] = useState<Attempt[]>([])
  const [last, setLast] = useState<WebhookTestResult | null>(null)
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const refresh = () => {
    setProblem('')
    readAttempts().then(setAttempts, (error: unknown) => setProblem(messageOf(error)))
  }
  useEffect(refresh, [])
  const send = async (fields: FormData) => {
    const [webhookUrl, webhookSecret] = [fieldText(fields, 'url'), fields.get('secret') as string]
    setProblem('')
    setLast(null)
    setBusy(true)
    try {
      const startedAt = new Date().toISOString()
      const test = { webhookUrl, ...(webhookSecret && { webhookSecret }) }
      const result = await currentClient().testWebhook(test)
      setLast(result)
      setTests((earlier) => [attemptOf(webhookUrl, startedAt, result), ...earlier])
    } catch (error) {
      setProblem(messageOf(error))
    }
    setBusy(false)
  }
  return (
    <section aria-labelledby="webhooks">
      <h2 id="webhooks">Webhooks</h2>
      <p>
        A test posts one signed event to a public https address.{' '}
        <a href="docs/how-to/webhooks.html">How to receive webhooks</a>
      </p>
      <InlineForm label="Send a test" send={(fields) => void send(fields)}>
        <label>
          Address
          <input name="url" type="url" required placeholder="https://example.com/hook" />
        </label>
        <label>
          Secret that signs it
          <input name="secret" type="password" autocomplete="off" placeholder="one is made" />
        </label>
        <button disabled={isBusy}>Send a test</button>
      </InlineForm>
      <div role="status">{last && <TestOutcome result={last} />}</div>
      <Problem>{problem}</Problem>
      <Table
        caption="Attempts to deliver"
        columns={COLUMNS}
        rows={[...tests, ...(attempts ?? [])]}
        keyOf={({ request_id: id, started_at: at }) => `${id} ${at}`}
        empty={attempts ? 'none of your last requests' : 'not read yet'}
      />
      <button type="button" onClick={refresh}>
        Refresh the attempts
      </button>
    </section>
  )
}

const TEST = 'a test'

const attemptOf = (url: string, startedAt: string, result: WebhookTestResult): Attempt => ({
  request_id: TEST,
  endpoint_id: null,
  host: new URL(url).host,
  started_at: startedAt,
  duration_ms: result.duration_ms,
  status_code: result.status_code,
  error: result.error,
})

function TestOutcome({ result }: { result: WebhookTestResult }) {
  const { delivered, status_code: status, error, duration_ms: ms, signing_secret: secret } = result
  return (
    <>
      <p>{delivered ? `Delivered in ${ms} ms, status ${status}.` : `Not delivered: ${error}`}</p>
      {secret !== undefined && (
        <p class="secret">
          It was signed with <code>{secret}</code> <CopyButton text={secret} />
        </p>
      )}
    </>
  )
}

const COLUMNS: Column<Attempt>[] = [
  { head: 'at', by: (row) => row.started_at, cell: (row) => <Time at={row.started_at} /> },
  {
    head: 'request',
    cell: ({ request_id: id }) => (id === TEST ? id : <a href={`#request=${id}`}>{id}</a>),
  },
  { head: 'receiver', by: (row) => row.host },
  numberColumn(
    'took',
    (row) => row.duration_ms,
    (ms) => `${ms} ms`,
  ),
  { head: 'response', cell: ({ error, status_code: status }) => error ?? `delivered, ${status}` },
]
