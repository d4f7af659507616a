import type { FunctionComponent } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { components } from '../../../clients/typescript/api.ts'
import { rememberSnapshot } from '../../../shared/engine-rates.ts'
import { ADMIN_SECTIONS, view } from '../../state/address.ts'
import {
  adminToken,
  codeProblem,
  createAdmin,
  keepAdminToken,
  readSignIn,
  signedIn,
  type Admin,
  type SignedInAdmin,
} from '../../state/admin.ts'
import { Accounts, Keys } from './accounts.tsx'
import { AdminModels } from './admin-models.tsx'
import { Audit } from './audit.tsx'
import { AdminLink, type AdminState, type SectionProps } from './cells.tsx'
import { Deliveries } from './deliveries.tsx'
import { Engines } from './engines.tsx'
import { usePolled } from './polled.ts'
import { Storage } from './storage.tsx'
import { Work } from './work.tsx'
import { Problem } from '../problem.tsx'

type Schemas = components['schemas']

const INTERVAL_MS = 2_000

/** The admins' view of the service: sections that each have an address. */
export function AdminView() {
  const [problem, setProblem] = useState('')
  const [isAbsent, setAbsent] = useState(false)
  const [provider, setProvider] = useState<string | null>(null)
  const current = adminToken.value
  const admin = useMemo(() => (current === null ? null : createAdmin(current)), [current])
  const read = useMemo(() => admin && stateReader(admin), [admin])
  const { data: state, problem: readProblem } = usePolled(read, INTERVAL_MS)
  useEffect(() => {
    if (current !== null) return
    void readSignIn().then((signIn) => {
      setAbsent(signIn === undefined)
      setProvider(signIn?.provider ?? null)
    })
  }, [current])
  const forget = () => {
    admin?.end().catch((error: Error) => setProblem(error.message))
    keepAdminToken(null)
  }
  const message = problem || readProblem
  const hasForm = current === null || (message !== '' && !state)
  return (
    <section class="card admin" aria-labelledby="admins">
      <div class="title">
        <h1 id="admins">Admins</h1>
        {state && current !== null && <SignedIn onForget={forget} />}
      </div>
      {isAbsent && (
        <p>
          There is no view of admins at this address: the gateway runs without{' '}
          <code>ADMIN_TOKEN</code>, a proxy keeps them back, or they have an address of their own.
        </p>
      )}
      {hasForm && !isAbsent && (
        <TokenForm
          provider={provider}
          onToken={(token) => {
            setProblem('')
            keepAdminToken(token)
          }}
        />
      )}
      <Problem>{message || (current === null && codeProblem.value)}</Problem>
      {state && admin && <Section state={state} admin={admin} />}
    </section>
  )
}

/** Who is signed in, and the way out. */
function SignedIn({ onForget }: { onForget: () => void }) {
  const admin = signedIn.value
  if (admin?.subject == null) return <button onClick={onForget}>Forget the token</button>
  return (
    <p class="quiet">
      {admin.name ?? admin.subject}, {admin.role} <button onClick={onForget}>Sign out</button>
    </p>
  )
}

type SectionName = (typeof ADMIN_SECTIONS)[number]

const SECTIONS: Readonly<Record<SectionName, FunctionComponent<SectionProps>>> = {
  work: Work,
  engines: Engines,
  models: ({ state, admin }) => (
    <AdminModels models={state.models} loaded={state.fleet.models} admin={admin} />
  ),
  accounts: Accounts,
  keys: Keys,
  deliveries: Deliveries,
  audit: Audit,
  storage: Storage,
}

/** The section that the address names, below tabs for all. */
function Section({ state, admin }: Omit<SectionProps, 'filters'>) {
  const shown = view.value
  if (shown.kind !== 'admin') return null
  const name = ADMIN_SECTIONS.find((section) => section === shown.section)
  const Shown = name && SECTIONS[name]
  return (
    <>
      <nav class="tabs" aria-label="Sections">
        {ADMIN_SECTIONS.map((section) => (
          <AdminLink key={section} to={section} isCurrent={section === name}>
            {section[0]!.toUpperCase() + section.slice(1)}
          </AdminLink>
        ))}
      </nav>
      {Shown ? (
        <Shown key={name} state={state} admin={admin} filters={shown.filters} />
      ) : (
        <p>There is no section of this name.</p>
      )}
    </>
  )
}

/** Returns a function that reads the state, and remembers earlier readings for its rates. */
function stateReader(admin: Admin): () => Promise<AdminState> {
  const snapshots: Schemas['Fleet'][] = []
  return async () => {
    await readIdentity(admin)
    const state = await readState(admin)
    return { ...state, before: rememberSnapshot(snapshots, state.fleet) }
  }
}

/** Reads it once, because a role stays as long as its session. */
async function readIdentity({ read }: Admin): Promise<void> {
  signedIn.value ??= await read<SignedInAdmin>('session')
}

async function readState({ read }: Admin): Promise<Omit<AdminState, 'before'>> {
  const [fleet, models, accounts, keys] = await Promise.all([
    read<Schemas['Fleet']>('fleet'),
    read<Schemas['AdminModelList']>('models'),
    read<Schemas['AccountList']>('accounts'),
    read<Schemas['ApiKeyList']>('keys'),
  ])
  return { fleet, models: models.data, accounts: accounts.data, keys: keys.data }
}

interface TokenFormProps {
  /** The provider that admins can sign in with; null if there is none. */
  provider: string | null
  onToken: (token: string) => void
}

function TokenForm({ provider, onToken }: TokenFormProps) {
  const [token, setToken] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onToken(token.trim())
      }}
    >
      {provider !== null && (
        <p>
          <a class="button primary" href="admin/sign-in/start">
            Sign in with {provider}
          </a>
        </p>
      )}
      <p>
        <code>npm start</code> keeps one in <code>data/admin-token</code>, and prints an address
        that needs none. <code>winnow open --admin</code> makes another such address.
      </p>
      <label>
        ADMIN_TOKEN of the gateway
        <input
          type="password"
          autocomplete="off"
          required
          value={token}
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
        />
      </label>
      <button class="primary">Show</button>
    </form>
  )
}
