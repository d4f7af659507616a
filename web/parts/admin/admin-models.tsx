/** The models that engines have or can fetch, with the actions of admins. */

import { useState } from 'preact/hooks'
import type { components } from '../../../clients/typescript/api.ts'
import { mayAct, type Admin } from '../../state/admin.ts'
import { ConfirmedButton } from '../confirmed-button.tsx'
import { Table } from './table.tsx'

type Model = components['schemas']['AdminModel']
type OnEngine = Model['engines'][number]

interface AdminModelsProps {
  models: readonly Model[]
  /** Models that are loaded, as engines report them. */
  loaded: components['schemas']['Fleet']['models']
  admin: Admin
}

export function AdminModels({ models, loaded, admin }: AdminModelsProps) {
  const loadedOf = ({ name }: Model) => loaded.find((other) => other.name === name)
  return (
    <Table
      caption="Models"
      rows={models}
      keyOf={({ name }) => name}
      columns={[
        {
          head: 'model',
          by: ({ name }) => name,
          cell: (model) => {
            const entry = loadedOf(model)
            const weights =
              entry && `${entry.parameters.toLocaleString()} parameters, ${entry.weights_sha256}`
            return <strong title={weights}>{model.name}</strong>
          },
        },
        { head: 'what it does', cell: (model) => loadedOf(model)?.summary ?? model.summary },
        {
          head: 'to download',
          isNumber: true,
          by: ({ built_in: isBuiltIn, megabytes }) => (isBuiltIn ? null : megabytes),
          cell: ({ built_in: isBuiltIn, megabytes }) =>
            isBuiltIn || megabytes === null ? '–' : `${megabytes} MB`,
        },
        {
          head: 'licence',
          by: ({ licence_word: word, licence }) => word ?? licence,
          cell: ({ licence_word: word, licence }) => <span title={licence}>{word ?? licence}</span>,
        },
        {
          head: 'state',
          by: ({ engines }) => engines[0]?.state ?? null,
          cell: (model) =>
            statesOf(model).map((group) => (
              <OnEngines key={group.state} model={model} group={group} admin={admin} />
            )),
        },
      ]}
    />
  )
}

/** Engines on which a model is in the same state. */
interface Group {
  state: OnEngine['state']
  engines: readonly OnEngine[]
  /** Whether these are all of its engines. */
  isAll: boolean
}

function statesOf({ engines }: Model): Group[] {
  const states = [...new Set(engines.map(({ state }) => state))]
  return states.map((state) => ({
    state,
    engines: engines.filter((engine) => engine.state === state),
    isAll: states.length === 1,
  }))
}

const WORDS: Readonly<Record<OnEngine['state'], string>> = {
  FETCHABLE: 'can be fetched',
  WAITING: 'waiting',
  DOWNLOADING: 'downloading',
  CONVERTING: 'being converted',
  NOT_LOADED: 'installed, not loaded',
  LOADING: 'being loaded',
  LOADED: 'loaded',
  UNLOADING: 'being unloaded, once its jobs end',
}

interface OnEnginesProps {
  model: Model
  group: Group
  admin: Admin
}

function OnEngines({ model, group: { state, engines, isAll }, admin }: OnEnginesProps) {
  const problems = [...new Set(engines.flatMap(({ problem }) => problem ?? []))]
  const isFetching = ['WAITING', 'DOWNLOADING', 'CONVERTING'].includes(state)
  return (
    <div>
      <p>
        {WORDS[state]}
        {!isAll && ` on ${engines.map(({ engine_id: id }) => id).join(', ')}`}
      </p>
      {isFetching && <FetchProgress name={model.name} engine={engines[0]!} />}
      {problems.map((problem) => (
        <p key={problem} class={isFetching ? 'quiet' : 'problem'}>
          {problem}
        </p>
      ))}
      <Changes
        model={model}
        state={state}
        admin={admin}
        engineIds={isAll ? [undefined] : engines.map(({ engine_id: id }) => id)}
      />
    </div>
  )
}

function FetchProgress({ name, engine }: { name: string; engine: OnEngine }) {
  const { bytes, bytes_total: total } = engine
  const megabytes = (count: number | null) => Math.round((count ?? 0) / 1e6)
  return (
    <p class="progress">
      <progress aria-label={`Download of ${name}`} value={bytes ?? 0} max={total || 1} />
      <span>
        {megabytes(bytes)} of {megabytes(total)} MB
      </span>
    </p>
  )
}

interface ChangesProps extends Pick<OnEnginesProps, 'model' | 'admin'> {
  state: OnEngine['state']
  /** The engines that are to do it; undefined means all. */
  engineIds: readonly (string | undefined)[]
}

function Changes({ model, state, admin, engineIds }: ChangesProps) {
  const { name } = model
  const path = `models/${encodeURIComponent(name)}`
  const post = async (verb: string, body: object = {}) => {
    for (const id of engineIds) {
      await admin.act(`${path}/${verb}`, { ...body, ...(id !== undefined && { engine_id: id }) })
    }
  }
  const remove = async () => {
    for (const id of engineIds) {
      await admin.remove(id === undefined ? path : `${path}?engine_id=${encodeURIComponent(id)}`)
    }
    return null
  }
  if (!mayAct('operator')) return null
  switch (state) {
    case 'FETCHABLE':
      return <FetchButton model={model} fetch={(body) => post('fetch', body)} />
    case 'WAITING':
    case 'DOWNLOADING':
    case 'CONVERTING':
      return <ConfirmedButton action="Stop the fetch" target={`of ${name}`} act={remove} />
    case 'NOT_LOADED':
    case 'LOADED':
      return (
        <>
          {state === 'NOT_LOADED' ? (
            <ActButton action="Load" target={name} act={() => post('load')} />
          ) : (
            !model.built_in && (
              <ActButton action="Unload" target={name} act={() => post('unload')} />
            )
          )}
          {!model.built_in && <ConfirmedButton action="Remove" target={name} act={remove} />}
        </>
      )
    default:
      return null
  }
}

interface FetchButtonProps {
  model: Model
  fetch(body: { licence_accepted: boolean }): Promise<void>
}

/** Shows the licence first, where it must be accepted. */
function FetchButton({ model, fetch }: FetchButtonProps) {
  const [isAsking, setAsking] = useState(false)
  const { name, licence, licence_url: url } = model
  if (!model.licence_question) {
    return <ActButton action="Fetch" target={name} act={() => fetch({ licence_accepted: false })} />
  }
  if (!isAsking) {
    return (
      <button type="button" aria-label={`Fetch ${name}`} onClick={() => setAsking(true)}>
        Fetch
      </button>
    )
  }
  return (
    <div role="group" aria-label={`Licence of ${name}`}>
      <p>
        The licence of its weights: {licence} {url && <a href={url}>Where it is stated</a>}
      </p>
      <ActButton
        action="Accept and fetch"
        target={name}
        act={async () => {
          await fetch({ licence_accepted: true })
          setAsking(false)
        }}
      />
      <button type="button" onClick={() => setAsking(false)}>
        Do not accept
      </button>
    </div>
  )
}

interface ActButtonProps {
  action: string
  /** What it acts on, for people who can't see the row. */
  target: string
  act(): Promise<void>
}

/** Acts at the first press; the table shows the change. */
function ActButton({ action, target, act }: ActButtonProps) {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const press = () => {
    setBusy(true)
    setProblem('')
    act()
      .catch((error: Error) => setProblem(error.message))
      .finally(() => setBusy(false))
  }
  return (
    <>
      <button type="button" aria-label={`${action} ${target}`} disabled={isBusy} onClick={press}>
        {action}
      </button>
      {problem && <span role="alert">{problem}</span>}
    </>
  )
}
