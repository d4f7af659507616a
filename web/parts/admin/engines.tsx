import type { components } from '../../../clients/typescript/api.ts'
import { ratesOf, type EngineRates } from '../../../shared/engine-rates.ts'
import { mayAct } from '../../state/admin.ts'
import { ConfirmedButton } from '../confirmed-button.tsx'
import { AdminLink, Share, State, type SectionProps } from './cells.tsx'
import { numberColumn, Table, type Column } from './table.tsx'

type Engine = components['schemas']['Fleet']['engines'][number]

interface Row extends Engine, EngineRates {
  /** Names of the models that it has loaded. */
  serves: string[]
}

/** Engines as `winnow top` shows them, with the models that they serve. */
export function Engines({ state: { fleet, before, models }, admin }: SectionProps) {
  const rows: Row[] = fleet.engines.map((engine) => ({
    ...engine,
    ...ratesOf(engine, fleet.at, before),
    serves: models
      .filter(({ engines }) =>
        engines.some(({ engine_id: id, state }) => id === engine.engine_id && state === 'LOADED'),
      )
      .map(({ name }) => name),
  }))
  return (
    <>
      <p class="quiet">
        Fill, busy and speed cover the last minute, or the time since this page was opened. A
        drained engine ends its jobs within ten minutes, and takes no more until it is restarted.
      </p>
      <Table
        caption="Engines"
        rows={rows}
        keyOf={({ engine_id: id }) => id}
        empty="No engines connected."
        columns={[
          ...COLUMNS,
          { head: 'change', cell: (row) => <Drain engine={row} admin={admin} /> },
        ]}
      />
    </>
  )
}

function Drain({ engine, admin }: { engine: Engine; admin: SectionProps['admin'] }) {
  const { engine_id: id, state } = engine
  if (state === 'DRAINING' || !mayAct('operator')) return null
  const drain = async () => {
    await admin.act(`engines/${encodeURIComponent(id)}/drain`)
    return 'Draining: finishing current jobs.'
  }
  return <ConfirmedButton action="Drain" target={id} act={drain} />
}

const COLUMNS: readonly Column<Row>[] = [
  {
    head: 'engine',
    by: ({ engine_id: id }) => id,
    cell: ({ engine_id: id, version, device }) => (
      <>
        <strong>{id}</strong>
        <small>
          {device}, {version}
        </small>
      </>
    ),
  },
  { head: 'state', by: ({ state }) => state, cell: ({ state }) => <State state={state} /> },
  {
    head: 'serves',
    by: ({ model }) => model,
    cell: ({ serves, model }) => <AdminLink to="models">{serves.join(', ') || model}</AdminLink>,
  },
  {
    head: 'jobs',
    isNumber: true,
    by: ({ jobs }) => jobs,
    cell: ({ jobs, jobs_max: max }) => `${jobs} of ${max}`,
  },
  {
    head: 'batch fill',
    by: ({ fill }) => fill,
    cell: ({ fill, engine_id: id }) => <Share value={fill} label={`batch fill of ${id}`} />,
  },
  {
    head: 'busy',
    by: ({ busy }) => busy,
    cell: ({ busy, engine_id: id }) => <Share value={busy} label={`busy share of ${id}`} />,
  },
  numberColumn(
    'speed',
    ({ audio }) => audio,
    (value) => `${value.toFixed(1)} s/s`,
  ),
  numberColumn(
    'memory',
    ({ memory_bytes: bytes }) => bytes,
    (bytes) => `${Math.round(bytes / 2 ** 20).toLocaleString()} MiB`,
  ),
  numberColumn(
    'media separated',
    ({ audio_seconds_total: seconds }) => seconds,
    (seconds) => `${Math.round(seconds).toLocaleString()} s`,
  ),
]
