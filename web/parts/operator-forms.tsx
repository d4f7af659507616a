/** What an operator changes: balances and keys. The tables show the change within two seconds. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { components } from '../../clients/typescript/api.ts'
import type { Admin } from '../state/admin.ts'

type Account = components['schemas']['Account']
type NewApiKey = components['schemas']['NewApiKey']

interface FormProps {
  accounts: readonly Account[]
  admin: Admin
}

/** Adds seconds to the balance of a metered account, or takes some back. */
export function CreditForm({ accounts, admin }: FormProps) {
  const metered = accounts.filter((account) => account.metered)
  if (metered.length === 0) return null
  return (
    <ActionForm
      action="Credit"
      act={async (fields) => {
        const path = `accounts/${encodeURIComponent(textOf(fields, 'account'))}/credit`
        const { balance_seconds: balance } = await admin.act<Account>(path, {
          seconds: Number(textOf(fields, 'seconds')),
        })
        return `The balance is ${balance} s.`
      }}
    >
      <AccountChoice accounts={metered} />
      <label>
        Seconds
        <input name="seconds" type="number" step="1" required />
      </label>
    </ActionForm>
  )
}

/** Creates a key for all that the page does, and shows it once. */
export function KeyForm({ accounts, admin }: FormProps) {
  return (
    <ActionForm
      action="Create a key"
      act={async (fields) => {
        const { key } = await admin.act<NewApiKey>('keys', {
          account_id: textOf(fields, 'account'),
          name: textOf(fields, 'name'),
          scopes: ['models:read', 'files:read', 'files:write', 'audio:separate'],
        })
        return `The key, shown only now: ${key}`
      }}
    >
      <AccountChoice accounts={accounts} />
      <label>
        Name
        <input name="name" required maxLength={100} />
      </label>
    </ActionForm>
  )
}

/** Asks once more before it revokes. */
export function RevokeButton({ keyId, admin }: { keyId: string; admin: Admin }) {
  const [isSure, setSure] = useState(false)
  const [problem, setProblem] = useState('')
  const revoke = () => {
    if (!isSure) return setSure(true)
    admin
      .act(`keys/${encodeURIComponent(keyId)}/revoke`)
      .catch((error: Error) => setProblem(error.message))
  }
  return (
    <>
      <button aria-label={`${isSure ? 'Really revoke' : 'Revoke'} ${keyId}`} onClick={revoke}>
        {isSure ? 'Really?' : 'Revoke'}
      </button>
      {problem && <span role="alert">{problem}</span>}
    </>
  )
}

const AccountChoice = ({ accounts }: { accounts: readonly Account[] }) => (
  <label>
    Account
    <select name="account">
      {accounts.map(({ account_id: id, name }) => (
        <option key={id} value={id}>
          {name} ({id})
        </option>
      ))}
    </select>
  </label>
)

const textOf = (fields: FormData, name: string): string => (fields.get(name) as string).trim()

interface ActionFormProps {
  action: string
  /** Resolves with what to show. */
  act(fields: FormData): Promise<string>
  children: ComponentChildren
}

function ActionForm({ action, act, children }: ActionFormProps) {
  const [shown, setShown] = useState('')
  const [problem, setProblem] = useState('')
  return (
    <form
      class="inline"
      aria-label={action}
      onSubmit={(event) => {
        event.preventDefault()
        const form = event.currentTarget
        setShown('')
        setProblem('')
        act(new FormData(form)).then(
          (text) => {
            setShown(text)
            form.reset()
          },
          (error: Error) => setProblem(error.message),
        )
      }}
    >
      {children}
      <button>{action}</button>
      <output>{shown}</output>
      <p role="alert" class="problem">
        {problem}
      </p>
    </form>
  )
}
