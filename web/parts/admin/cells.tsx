/** Parts that several sections of the admins' view share. */

import type { ComponentChildren } from 'preact'
import type { components } from '../../../clients/typescript/api.ts'
import { adminAddress } from '../../state/address.ts'
import type { Admin } from '../../state/admin.ts'
import type { Column } from './table.tsx'

type Schemas = components['schemas']

export interface AdminState {
  fleet: Schemas['Fleet']
  /** An earlier reading, to compute rates. */
  before: Schemas['Fleet'] | undefined
  models: Schemas['AdminModel'][]
  accounts: Schemas['Account'][]
  keys: Schemas['ApiKey'][]
}

export interface SectionProps {
  state: AdminState
  admin: Admin
  /** From the address. */
  filters: Readonly<Record<string, string>>
}

/** A word in a colour. */
const Badge = ({ tone, children }: { tone: string; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

const TONES: Readonly<Record<string, string>> = {
  ready: 'good',
  completed: 'good',
  delivered: 'good',
  loaded: 'good',
  active: 'good',
  valid: 'good',
  busy: 'live',
  'in progress': 'live',
  sending: 'live',
  failed: 'bad',
  revoked: 'bad',
  disabled: 'bad',
}

/** @param state such as `IN_PROGRESS` */
export function State({ state }: { state: string }) {
  const word = state.toLowerCase().replaceAll('_', ' ')
  return <Badge tone={TONES[word] ?? 'calm'}>{word}</Badge>
}

interface LinkProps {
  to: string
  filters?: Readonly<Record<string, string>>
  label?: string
  isCurrent?: boolean
  children: ComponentChildren
}

export const AdminLink = ({ to, filters = {}, label, isCurrent, children }: LinkProps) => (
  <a
    href={adminAddress(to, filters)}
    aria-label={label}
    aria-current={isCurrent ? 'page' : undefined}
  >
    {children}
  </a>
)

const accountNameOf = (accounts: AdminState['accounts'], id: string) =>
  accounts.find(({ account_id: other }) => other === id)?.name

/** The account's name, as a link to its row. */
export function AccountLink({ id, accounts }: { id: string; accounts: AdminState['accounts'] }) {
  return (
    <AdminLink to="accounts" filters={{ account: id }}>
      {accountNameOf(accounts, id) || id}
    </AdminLink>
  )
}

/** The account of each row, sorted by its name. */
export const accountColumn = <Row extends { account_id: string }>(
  accounts: AdminState['accounts'],
): Column<Row> => ({
  head: 'account',
  by: ({ account_id: id }) => accountNameOf(accounts, id) ?? id,
  cell: ({ account_id: id }) => <AccountLink id={id} accounts={accounts} />,
})

interface StateChoiceProps {
  label: string
  section: string
  /** Values of the filter `state`, with their words; empty for all. */
  states: readonly (readonly [string, string])[]
  filters: SectionProps['filters']
}

/** Links that filter a section by state. */
export const StateChoice = ({ label, section, states, filters }: StateChoiceProps) => {
  const { state: current = '', ...others } = filters
  return (
    <nav class="choice" aria-label={label}>
      {states.map(([state, word]) => (
        <AdminLink
          key={state}
          to={section}
          filters={{ ...others, ...(state && { state }) }}
          isCurrent={state === current}
        >
          {word}
        </AdminLink>
      ))}
    </nav>
  )
}

interface FilterProps extends Pick<SectionProps, 'filters'> {
  section: string
  accounts: AdminState['accounts']
}

/** Says that the list shows one account, with a link to all. */
export function AccountFilter({ section, filters, accounts }: FilterProps) {
  const { account, ...others } = filters
  if (account === undefined) return null
  return (
    <p class="filter">
      Only of <AccountLink id={account} accounts={accounts} />.{' '}
      <AdminLink to={section} filters={others}>
        Show all accounts
      </AdminLink>
    </p>
  )
}

/** @param value from 0 to 1; null: unknown */
export function Share({ value, label }: { value: number | null; label: string }) {
  if (value === null) return <span class="quiet">–</span>
  const part = Math.min(1, Math.max(0, value))
  return (
    <span class="part">
      <meter value={part} max={1} aria-label={label} />
      {Math.round(100 * part)} %
    </span>
  )
}

type Figure = readonly [name: string, value: ComponentChildren]

/** Figures with their names. */
export const Figures = ({ figures }: { figures: readonly Figure[] }) => (
  <dl class="figures">
    {figures.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

/** @param seconds such as 95: `1 min 35 s` */
export function spanText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`
}
