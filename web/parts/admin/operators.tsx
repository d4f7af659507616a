import { useEffect, useState } from 'preact/hooks'
import type { components } from '../../../clients/typescript/api.ts'
import {
  adminToken,
  codeProblem,
  createAdmin,
  hasAdmin,
  keepAdminToken,
  type Admin,
} from '../../state/admin.ts'
import { sizeText } from '../../state/choose-files.ts'
import { AdminModels } from './admin-models.tsx'
import { Charts } from './charts.tsx'
import { AccountForm, CreditForm, KeyActions, KeyForm } from './operator-forms.tsx'
import { Table } from './table.tsx'
import { Time } from '../time.tsx'

type Schemas = components['schemas']

interface State {
  fleet: Schemas['Fleet']
  models: Schemas['AdminModel'][]
  accounts: Schemas['Account'][]
  keys: Schemas['ApiKey'][]
}

const EVERY_MS = 2_000

/** The service as its operator sees it: what it did and does, what it holds, accounts and keys. */
export function Operators() {
  const [state, setState] = useState<State | null>(null)
  const [problem, setProblem] = useState('')
  const [isAbsent, setAbsent] = useState(false)
  const current = adminToken.value
  useEffect(() => {
    if (current === null) void hasAdmin().then((has) => setAbsent(!has))
  }, [current])
  useEffect(() => {
    if (current === null) return
    const show = (read: State) => {
      setState(read)
      setProblem('')
    }
    return followState(createAdmin(current), show, setProblem)
  }, [current])
  const forget = () => {
    if (current !== null) {
      createAdmin(current)
        .end()
        .catch((error: Error) => setProblem(error.message))
    }
    keepAdminToken(null)
    setState(null)
  }
  const hasForm = current === null || (problem !== '' && !state)
  return (
    <section class="card" aria-labelledby="operators">
      <div class="title">
        <h1 id="operators">Operators</h1>
        {state && current !== null && <button onClick={forget}>Forget the token</button>}
      </div>
      {isAbsent && (
        <p>
          There are no operators' pages at this address: the gateway runs without{' '}
          <code>ADMIN_TOKEN</code>, or a proxy keeps them back.
        </p>
      )}
      {hasForm && !isAbsent && (
        <TokenForm
          onToken={(given) => {
            setProblem('')
            keepAdminToken(given)
          }}
        />
      )}
      <p role="alert" class="problem">
        {problem || (current === null && codeProblem.value)}
      </p>
      {state && current !== null && (
        <>
          <Charts token={current} />
          <Tables state={state} admin={createAdmin(current)} />
        </>
      )}
    </section>
  )
}

/** Reads the state again and again; returns the function that stops it. */
function followState(
  admin: Admin,
  onState: (state: State) => void,
  onProblem: (message: string) => void,
): () => void {
  let timer: ReturnType<typeof setTimeout>
  let isOver = false
  const refresh = () =>
    readState(admin)
      .then(onState)
      .catch((error: Error) => onProblem(error.message))
      .finally(() => {
        if (!isOver) timer = setTimeout(() => void refresh(), EVERY_MS)
      })
  void refresh()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

async function readState({ read }: Admin): Promise<State> {
  const [fleet, models, accounts, keys] = await Promise.all([
    read<Schemas['Fleet']>('fleet'),
    read<Schemas['AdminModelList']>('models'),
    read<Schemas['AccountList']>('accounts'),
    read<Schemas['ApiKeyList']>('keys'),
  ])
  return { fleet, models: models.data, accounts: accounts.data, keys: keys.data }
}

function TokenForm({ onToken }: { onToken: (token: string) => void }) {
  const [given, setGiven] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onToken(given.trim())
      }}
    >
      <p>
        <code>npm start</code> keeps one in <code>data/admin-token</code>, and prints an address
        that needs none.
      </p>
      <label>
        ADMIN_TOKEN of the gateway
        <input
          type="password"
          autocomplete="off"
          required
          value={given}
          onInput={({ currentTarget }) => setGiven(currentTarget.value)}
        />
      </label>
      <button class="primary">Show</button>
    </form>
  )
}

function Engines({ fleet: { engines } }: Pick<State, 'fleet'>) {
  return (
    <Table
      caption="Engines"
      heads={['engine', 'model', 'device', 'state', 'jobs', 'media separated']}
      rows={engines.map((engine) => [
        engine.engine_id,
        engine.model,
        engine.device,
        engine.state.toLowerCase(),
        `${engine.jobs} of ${engine.jobs_max}`,
        `${Math.round(engine.audio_seconds_total)} s`,
      ])}
    />
  )
}

function Tables({ state, admin }: { state: State; admin: Admin }) {
  const { fleet, models, accounts, keys } = state
  const { queue, failures, webhook_attempts: attempts, storage } = fleet
  return (
    <>
      <p>
        {queue.waiting} waiting
        {queue.waiting > 0 && `, the oldest for ${Math.round(queue.oldest_seconds)} s`};{' '}
        {queue.in_progress} in progress; {queue.webhooks_due} webhooks due.
      </p>
      <p>
        Media in {storage.place}: {sizeText(storage.held_bytes)} held,{' '}
        {sizeText(storage.reserved_bytes)} reserved for outputs
        {storage.free_bytes !== null && `, room for ${sizeText(Math.max(0, storage.free_bytes))}`}.
      </p>
      <Engines fleet={fleet} />
      <AdminModels models={models} held={fleet.models} admin={admin} />
      <Table
        caption="Last failures"
        heads={['request', 'at', 'code', 'message']}
        rows={failures.map(({ request_id: id, failed_at: at, code, message }) => [
          id,
          <Time key={id} of={at} />,
          code,
          message,
        ])}
      />
      <Table
        caption="Last webhook attempts"
        heads={['request', 'at', 'receiver', 'took', 'answer']}
        rows={attempts.map((attempt) => [
          attempt.request_id,
          <Time key={attempt.started_at} of={attempt.started_at} />,
          attempt.host,
          `${attempt.duration_ms} ms`,
          attempt.error ?? `delivered, ${attempt.status_code}`,
        ])}
      />
      <Accounts accounts={accounts} keys={keys} admin={admin} />
    </>
  )
}

interface AccountsProps extends Pick<State, 'accounts' | 'keys'> {
  admin: Admin
}

function Accounts({ accounts, keys, admin }: AccountsProps) {
  const balance = (account: Schemas['Account']) =>
    account.metered ? `${account.balance_seconds} s, ${account.reserved_seconds} s reserved` : '–'
  return (
    <>
      <Table
        caption="Accounts"
        heads={['account', 'name', 'balance', 'media']}
        rows={accounts.map((account) => [
          account.account_id,
          account.name,
          balance(account),
          sizeText(account.media_bytes),
        ])}
      />
      <AccountForm admin={admin} />
      <CreditForm accounts={accounts} admin={admin} />
      <Table
        caption="Keys"
        heads={['key', 'account', 'name', 'scopes', 'state', 'change']}
        rows={keys.map((key) => [
          key.key_id,
          key.account_id,
          key.name,
          key.scopes.join(' '),
          key.revoked_at === null ? 'valid' : 'revoked',
          key.revoked_at === null && <KeyActions keyId={key.key_id} admin={admin} />,
        ])}
      />
      <KeyForm accounts={accounts} admin={admin} />
    </>
  )
}
