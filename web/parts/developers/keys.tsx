import { useEffect, useState } from 'preact/hooks'
import { keepNewSecret, messageOf } from '../../state/credential.ts'
import {
  createKey,
  readKeys,
  revokeKey,
  rotateKey,
  type Key,
  type Keys as KeyList,
  type NewKey,
} from '../../state/developers.ts'
import { Table, type Column } from '../admin/table.tsx'
import { ConfirmedButton } from '../confirmed-button.tsx'
import { InlineForm, KeyPriority, priorityIn, fieldText } from '../inline-form.tsx'
import { Problem } from '../problem.tsx'
import { PastTime, Time } from '../time.tsx'
import { Secret } from './secret.tsx'

const LIFETIMES = [
  ['90d', '90 days'],
  ['30d', '30 days'],
  ['1y', 'a year'],
  ['', 'until it is revoked'],
] as const

export function Keys() {
  const [list, setList] = useState<KeyList | null>(null)
  const [made, setMade] = useState<NewKey | null>(null)
  const [problem, setProblem] = useState('')
  const refresh = () => readKeys().then(setList, (error: unknown) => setProblem(messageOf(error)))
  useEffect(() => void refresh(), [])
  const change = async (work: Promise<NewKey | Key>) => {
    setMade(null)
    setProblem('')
    try {
      const key = await work
      const isOwn = key.key_id === list?.current_key_id
      const fresh = 'key' in key ? key : null
      setMade(fresh)
      if (fresh || !isOwn) await refresh()
    } catch (error) {
      setProblem(messageOf(error))
    }
    return null
  }
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      {made && (
        <Secret name={made.name || made.key_id} secret={made.key}>
          {' It is what programs send.'}
          {made.key_id === list?.current_key_id &&
            ' It is your own key, with which this tab goes on.'}
        </Secret>
      )}
      <Problem>{problem}</Problem>
      {list && <KeyForm own={ownKey(list)} create={(key) => change(createKey(key))} />}
      {list && (
        <Table
          caption="Keys of your account"
          columns={columnsOf(list.current_key_id, change)}
          rows={list.data}
          keyOf={(key) => key.key_id}
        />
      )}
    </section>
  )
}

const ownKey = ({ data, current_key_id: id }: KeyList): Key | undefined =>
  data.find((key) => key.key_id === id)

interface KeyFormProps {
  /** The key of this session; a new key can only get scopes that this one has. */
  own: Key | undefined
  create(key: Parameters<typeof createKey>[0]): Promise<unknown>
}

function KeyForm({ own, create }: KeyFormProps) {
  const scopes = own?.scopes ?? []
  const send = (fields: FormData) => {
    const [name, expires] = [fieldText(fields, 'name'), fieldText(fields, 'expires')]
    void create({
      scopes: scopes.filter((scope) => fields.has(scope)),
      ...(name && { name }),
      ...(expires && { expires }),
      ...priorityIn(fields),
    })
  }
  return (
    <InlineForm label="Create a key" send={send}>
      <label>
        Name
        <input name="name" maxLength={200} placeholder="such as CI" />
      </label>
      <label>
        Valid
        <select name="expires">
          {LIFETIMES.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <KeyPriority isBatchOnly={own?.priority === 'batch'} />
      <fieldset>
        <legend>Scopes</legend>
        <div class="choice">
          {scopes.map((scope) => (
            <label key={scope} class="check">
              <input type="checkbox" name={scope} defaultChecked={scope !== 'keys:manage'} />
              <code>{scope}</code>
            </label>
          ))}
        </div>
      </fieldset>
      <button>Create a key</button>
    </InlineForm>
  )
}

const hasEnded = ({ revoked_at: revokedAt, expires_at: expiresAt }: Key): boolean =>
  revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= Date.now())

type Change = (work: Promise<NewKey | Key>) => Promise<null>

const columnsOf = (currentId: string, change: Change): Column<Key>[] => [
  {
    head: 'name',
    by: (key) => key.name,
    cell: (key) => (
      <>
        {key.name || 'no name'}
        <small class="quiet">
          {key.key_id}
          {key.key_id === currentId && ', of this session'}
        </small>
      </>
    ),
  },
  {
    head: 'scopes',
    cell: (key) => (
      <small>
        {key.scopes.join(' ')}
        {key.priority === 'batch' && ', only batch'}
      </small>
    ),
  },
  { head: 'created', by: (key) => key.created_at, cell: (key) => <PastTime at={key.created_at} /> },
  {
    head: 'last used',
    by: (key) => key.last_used_at,
    cell: (key) => (key.last_used_at ? <PastTime at={key.last_used_at} /> : 'never'),
  },
  {
    head: 'expires',
    by: (key) => key.expires_at,
    cell: (key) => {
      if (key.revoked_at !== null) return <span class="ended">revoked</span>
      if (key.expires_at === null) return 'never'
      return hasEnded(key) ? <span class="ended">expired</span> : <Time at={key.expires_at} />
    },
  },
  {
    head: 'change',
    cell: (key) =>
      !hasEnded(key) && (
        <>
          <ConfirmedButton
            action="Rotate"
            target={key.name || key.key_id}
            act={() => {
              const rotating = rotateKey(key.key_id)
              return change(key.key_id === currentId ? keepNewSecret(rotating) : rotating)
            }}
          />
          <ConfirmedButton
            action="Revoke"
            target={key.name || key.key_id}
            act={() => change(revokeKey(key.key_id))}
          />
        </>
      ),
  },
]
