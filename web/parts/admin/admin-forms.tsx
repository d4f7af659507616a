/** Forms to change accounts, balances and keys. The tables show a change within two seconds. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { components } from '../../../clients/typescript/api.ts'
import { PRIORITIES, type Priority } from '../../../shared/priority.ts'
import { mayAct, type Admin, type Role } from '../../state/admin.ts'
import { ConfirmedButton } from '../confirmed-button.tsx'
import { InlineForm, KeyPriority, priorityIn, fieldText } from '../inline-form.tsx'
import { Problem } from '../problem.tsx'

type Account = components['schemas']['Account']
type NewApiKey = components['schemas']['NewApiKey']

interface FormProps {
  accounts: readonly Account[]
  admin: Admin
}

/** Adds seconds to the balance of a metered account; a negative number takes them back. */
export function CreditForm({ accounts, admin }: FormProps) {
  const metered = accounts.filter((account) => account.metered)
  if (metered.length === 0) return null
  return (
    <ActionForm
      action="Credit"
      act={async (fields) => {
        const path = `accounts/${encodeURIComponent(fieldText(fields, 'account'))}/credit`
        const { balance_seconds: balance } = await admin.act<Account>(path, {
          seconds: Number(fieldText(fields, 'seconds')),
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

/** Sets all limits of an account; an empty field leaves the limit to the gateway's settings. */
export function LimitsForm({ account, admin }: Pick<FormProps, 'admin'> & { account: Account }) {
  const { account_id: id, own_limits: limits } = account
  if (!limits) return null
  const names = Object.keys(limits) as (keyof typeof limits)[]
  return (
    <ActionForm
      action="Set the limits"
      role="operator"
      isKept
      act={async (fields) => {
        const filled = names.filter((name) => fieldText(fields, name) !== '')
        const valueOf = (name: string) =>
          name === 'priority' ? fieldText(fields, name) : Number(fieldText(fields, name))
        const body = Object.fromEntries(filled.map((name) => [name, valueOf(name)]))
        await admin.act(`accounts/${encodeURIComponent(id)}/limits`, body, 'PUT')
        return 'The limits are set.'
      }}
    >
      {names.map((name) => (
        <label key={`${name} ${limits[name]}`}>
          {name.replaceAll('_', ' ')}
          {name === 'priority' ? (
            <PriorityChoice priority={limits.priority} />
          ) : (
            <input
              name={name}
              type="number"
              min="1"
              step="1"
              placeholder="as the settings say"
              defaultValue={limits[name] ?? ''}
            />
          )}
        </label>
      ))}
    </ActionForm>
  )
}

/** The highest class that an account's requests may have. */
const PriorityChoice = ({ priority }: { priority: Priority | null }) => (
  <select name="priority">
    {['', ...PRIORITIES].map((name) => (
      <option key={name} value={name} selected={name === (priority ?? '')}>
        {name || 'as the settings say'}
      </option>
    ))}
  </select>
)

/** Creates a key with every scope that the page needs, and shows it once. */
export function KeyForm({ accounts, admin }: FormProps) {
  return (
    <ActionForm
      action="Create a key"
      act={async (fields) => {
        const { key } = await admin.act<NewApiKey>('keys', {
          account_id: fieldText(fields, 'account'),
          name: fieldText(fields, 'name'),
          scopes: ['models:read', 'files:read', 'files:write', 'audio:separate'],
          ...priorityIn(fields),
        })
        return keyText(key)
      }}
    >
      <AccountChoice accounts={accounts} />
      <label>
        Name
        <input name="name" required maxLength={100} />
      </label>
      <KeyPriority />
    </ActionForm>
  )
}

/** Creates an account, metered or not. */
export function AccountForm({ admin }: Pick<FormProps, 'admin'>) {
  return (
    <ActionForm
      action="Create an account"
      act={async (fields) => {
        const { account_id: id } = await admin.act<Account>('accounts', {
          name: fieldText(fields, 'name'),
          metered: fields.has('metered'),
        })
        return `The account is ${id}.`
      }}
    >
      <label>
        Name of the account
        <input name="name" required maxLength={200} />
      </label>
      <label class="check">
        <input name="metered" type="checkbox" />
        Separating costs credits
      </label>
    </ActionForm>
  )
}

/** Replaces the secret of a key, or revokes it. */
export function KeyActions({ keyId, admin }: { keyId: string; admin: Admin }) {
  const call = (action: string) =>
    admin.act<NewApiKey>(`keys/${encodeURIComponent(keyId)}/${action}`)
  if (!mayAct('owner')) return null
  return (
    <>
      <ConfirmedButton
        action="Rotate"
        target={keyId}
        act={async () => keyText((await call('rotate')).key)}
      />
      <ConfirmedButton action="Revoke" target={keyId} act={() => call('revoke').then(() => null)} />
    </>
  )
}

const keyText = (key: string) => `The key, shown only now: ${key}`

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

interface ActionFormProps {
  action: string
  /** The least role that may send it. */
  role?: Role
  /** Whether the form keeps its values once they are sent. */
  isKept?: boolean
  /** Resolves with the text to show. */
  act(fields: FormData): Promise<string>
  children: ComponentChildren
}

/** Acts when it is sent twice without a change in between. */
function ActionForm({ action, role = 'owner', isKept, act, children }: ActionFormProps) {
  const [isSure, setSure] = useState(false)
  const [shown, setShown] = useState('')
  const [problem, setProblem] = useState('')
  if (!mayAct(role)) return null
  const send = (fields: FormData, form: HTMLFormElement) => {
    setShown('')
    setProblem('')
    setSure(!isSure)
    if (!isSure) return
    act(fields).then(
      (text) => {
        setShown(text)
        if (!isKept) form.reset()
      },
      (error: Error) => setProblem(error.message),
    )
  }
  return (
    <InlineForm label={action} onInput={() => setSure(false)} send={send}>
      {children}
      <button>{isSure ? `Really ${action.toLowerCase()}?` : action}</button>
      <output>{shown}</output>
      <Problem>{problem}</Problem>
    </InlineForm>
  )
}
