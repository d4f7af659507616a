/** Makes the Grafana dashboard of a fleet. */

import {
  METRICS,
  type MetricName,
  type NameOf,
} from '../../../shared/telemetry/metric-definitions.ts'

interface Query {
  expr: string
  /** Grafana's name of a series, such as `{{code}}`. */
  legend: string
}

interface Panel {
  title: string
  /** Grafana's name of the unit, such as `s` or `percentunit`. */
  unit: string
  queries: Query[]
  /** Set where the sum of the series means something. */
  stacked?: boolean
}

/** Grafana chooses this range by the width of the panel. */
const RANGE = '$__rate_interval'

const rate = (name: NameOf<'counter'>): string => `rate(${name}[${RANGE}])`

/** The value below which `share` of a histogram's observations lie. */
const quantile = (share: number, name: NameOf<'histogram'>, labels = ''): string =>
  `histogram_quantile(${share}, sum by (le) (rate(${name}_bucket${labels}[${RANGE}])))`

const mean = (name: NameOf<'histogram'>, by = 'instance'): string =>
  `sum by (${by}) (rate(${name}_sum[${RANGE}])) / sum by (${by}) (rate(${name}_count[${RANGE}]))`

const quantiles = (name: NameOf<'histogram'>, labels?: string): Query[] =>
  [0.5, 0.9, 0.99].map((share) => ({
    expr: quantile(share, name, labels),
    legend: `p${Math.round(share * 100)}`,
  }))

const gauge = (name: NameOf<'gauge'>, legend: string): Query => ({ expr: name, legend })

const ROWS: readonly { title: string; panels: readonly Panel[] }[] = [
  {
    title: 'Requests',
    panels: [
      {
        title: 'Unfinished requests',
        unit: 'short',
        stacked: true,
        queries: [{ expr: 'max by (status) (winnow_requests)', legend: '{{status}}' }],
      },
      {
        title: 'Work left for one engine',
        unit: 's',
        stacked: true,
        queries: [
          { expr: 'max by (model, status) (winnow_work_seconds)', legend: '{{model}} {{status}}' },
        ],
      },
      {
        title: 'Oldest in the queue',
        unit: 's',
        queries: [{ expr: 'max(winnow_queue_oldest_seconds)', legend: 'age' }],
      },
      {
        title: 'Submitted and finished',
        unit: 'reqps',
        queries: [
          { expr: `sum(${rate('winnow_requests_submitted_total')})`, legend: 'submitted' },
          {
            expr: `sum by (status) (${rate('winnow_requests_finished_total')})`,
            legend: '{{status}}',
          },
        ],
      },
      {
        title: 'Failures by code',
        unit: 'reqps',
        stacked: true,
        queries: [
          {
            expr: `sum by (code) (rate(winnow_requests_finished_total{status="FAILED"}[${RANGE}]))`,
            legend: '{{code}}',
          },
        ],
      },
      {
        title: 'From submit to end',
        unit: 's',
        queries: quantiles('winnow_job_end_to_end_seconds'),
      },
      { title: 'Waiting in the queue', unit: 's', queries: quantiles('winnow_job_queue_seconds') },
    ],
  },
  {
    title: 'Engines',
    panels: [
      {
        title: 'Audio separated, seconds a second',
        unit: 'none',
        stacked: true,
        queries: [{ expr: rate('winnow_engine_audio_seconds_total'), legend: '{{instance}}' }],
      },
      {
        title: 'Engines by state',
        unit: 'short',
        stacked: true,
        queries: [{ expr: 'sum by (state) (winnow_engine_state)', legend: '{{state}}' }],
      },
      {
        title: 'Models busy',
        unit: 'percentunit',
        queries: [{ expr: rate('winnow_engine_busy_seconds_total'), legend: '{{instance}}' }],
      },
      { title: 'Step of a batch', unit: 's', queries: quantiles('winnow_batch_step_seconds') },
      {
        title: 'Lanes of a batch',
        unit: 'short',
        queries: [{ expr: mean('winnow_batch_lanes'), legend: '{{instance}}' }],
      },
      {
        title: 'Fill of a batch',
        unit: 'percentunit',
        queries: [{ expr: mean('winnow_batch_fill_ratio'), legend: '{{instance}}' }],
      },
      {
        title: 'Jobs and lanes in flight',
        unit: 'short',
        queries: [
          gauge('winnow_engine_leases', '{{instance}} jobs'),
          gauge('winnow_engine_lanes', '{{instance}} lanes'),
        ],
      },
      {
        title: 'Tries by outcome',
        unit: 'ops',
        queries: [
          {
            expr: `sum by (outcome) (rate(winnow_job_run_seconds_count[${RANGE}]))`,
            legend: '{{outcome}}',
          },
        ],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: [gauge('winnow_engine_memory_bytes', '{{instance}}')],
      },
      {
        title: 'Device memory of tensors',
        unit: 'bytes',
        queries: [
          gauge('winnow_engine_device_memory_bytes', '{{instance}}'),
          gauge('winnow_engine_device_memory_peak_bytes', '{{instance}} at most'),
        ],
      },
      { title: 'Graphs', unit: 'short', queries: [gauge('winnow_engine_graphs', '{{instance}}')] },
      {
        title: 'Device out of memory',
        unit: 'ops',
        queries: [{ expr: rate('winnow_engine_out_of_memory_total'), legend: '{{instance}}' }],
      },
    ],
  },
  {
    title: 'GPUs',
    panels: [
      {
        title: 'GPU utilization',
        unit: 'percentunit',
        queries: [gauge('winnow_gpu_utilization_ratio', '{{instance}} {{gpu}}')],
      },
      {
        title: 'GPU memory used',
        unit: 'percentunit',
        queries: [
          {
            expr: 'winnow_gpu_memory_used_bytes / winnow_gpu_memory_total_bytes',
            legend: '{{instance}} {{gpu}}',
          },
        ],
      },
      {
        title: 'GPU power',
        unit: 'watt',
        queries: [gauge('winnow_gpu_power_watts', '{{instance}} {{gpu}}')],
      },
      {
        title: 'GPU temperature',
        unit: 'celsius',
        queries: [gauge('winnow_gpu_temperature_celsius', '{{instance}} {{gpu}}')],
      },
    ],
  },
  {
    title: 'Gateways',
    panels: [
      {
        title: 'Calls by status',
        unit: 'reqps',
        queries: [
          {
            expr: `sum by (status) (rate(winnow_http_request_seconds_count[${RANGE}]))`,
            legend: '{{status}}',
          },
        ],
      },
      {
        title: 'Submit answered',
        unit: 's',
        queries: quantiles(
          'winnow_http_request_seconds',
          '{method="POST",route="/v1/queue/audio/separate"}',
        ),
      },
      {
        title: 'Webhooks by what followed',
        unit: 'reqps',
        queries: [
          { expr: `sum by (state) (${rate('winnow_webhook_tries_total')})`, legend: '{{state}}' },
        ],
      },
      {
        title: 'Webhooks to be sent',
        unit: 'short',
        queries: [
          { expr: 'max(winnow_webhooks_unsettled)', legend: 'unsettled' },
          { expr: 'max(winnow_webhooks_due)', legend: 'due' },
        ],
      },
      {
        title: 'Open status streams',
        unit: 'short',
        queries: [gauge('winnow_status_watches', '{{instance}}')],
      },
      {
        title: 'Disk free',
        unit: 'percentunit',
        queries: [
          {
            expr: 'winnow_disk_free_bytes / winnow_disk_size_bytes',
            legend: '{{job}} {{instance}}',
          },
        ],
      },
    ],
  },
]

/** Returns the dashboard as JSON. Grafana asks for the data source when it imports it. */
export function dashboard(): string {
  const panels: object[] = []
  let y = 0
  for (const row of ROWS) {
    panels.push({
      type: 'row',
      id: panels.length + 1,
      title: row.title,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    })
    y += 1
    for (const [i, panel] of row.panels.entries()) {
      const gridPos = { x: 8 * (i % 3), y: y + 8 * Math.floor(i / 3), w: 8, h: 8 }
      panels.push(panelOf(panel, panels.length + 1, gridPos))
    }
    y += 8 * Math.ceil(row.panels.length / 3)
  }
  return `${JSON.stringify(
    {
      uid: 'winnow',
      title: 'Winnow',
      schemaVersion: 39,
      refresh: '30s',
      time: { from: 'now-6h', to: 'now' },
      templating: {
        list: [
          { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
        ],
      },
      panels,
    },
    null,
    1,
  )}\n`
}

const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' }

function panelOf({ title, unit, queries, stacked = false }: Panel, id: number, gridPos: object) {
  const custom = stacked
    ? { fillOpacity: 30, stacking: { mode: 'normal', group: 'A' } }
    : { fillOpacity: 5 }
  return {
    type: 'timeseries',
    id,
    title,
    description: descriptionOf(queries),
    gridPos,
    datasource: DATA_SOURCE,
    fieldConfig: { defaults: { unit, min: 0, custom }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(({ expr, legend }, i) => ({
      refId: String.fromCharCode(65 + i),
      datasource: DATA_SOURCE,
      expr,
      legendFormat: legend,
    })),
  }
}

/** Describes a panel with the help texts of its metrics. */
function descriptionOf(queries: readonly Query[]): string {
  const isQueried = (name: MetricName) =>
    queries.some(({ expr }) => new RegExp(`\\b${name}(_bucket|_sum|_count)?\\b`).test(expr))
  const names = (Object.keys(METRICS) as MetricName[]).filter(isQueried)
  return names.map((name) => METRICS[name].help).join(' ')
}
