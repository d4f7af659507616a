import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { dashboard } from '../../../../scripts/tools/ops/dashboard.ts'
import { withMetricsTable } from '../../../../scripts/tools/ops/metrics-table.ts'
import { METRICS } from '../../../../shared/telemetry/metric-definitions.ts'

const STALE = 'is not what the definitions of the metrics make: run npm run winnow -- ops'
const SUFFIX = /_(bucket|sum|count)$/

test('the table of metrics and the dashboard match the definitions', () => {
  const document = readFileSync('docs/reference/metrics.md', 'utf8')
  assert.ok(document === withMetricsTable(document), `docs/reference/metrics.md ${STALE}`)
  const kept = readFileSync('ops/grafana-dashboard.json', 'utf8')
  assert.ok(kept === dashboard(), `ops/grafana-dashboard.json ${STALE}`)
})

test('panels and alerts only name defined metrics', () => {
  const texts = [dashboard(), readFileSync('ops/alerts.yml', 'utf8')]
  const metricNames = texts.flatMap((text) => text.match(/\bwinnow_\w+/g) ?? [])
  assert.ok(metricNames.length > 50)
  const defined = Object.keys(METRICS)
  const unknown = metricNames.filter(
    (name) => !defined.includes(name) && !defined.includes(name.replace(SUFFIX, '')),
  )
  assert.deepEqual(unknown, [])
})

test('the excerpts of nginx.conf in the documents are in the file that the tests run', () => {
  const page = readFileSync('docs/how-to/reverse-proxy.md', 'utf8')
  const [, excerpt = ''] = /```text\n(    client_max[\s\S]*?)```/.exec(page) ?? []
  assert.match(excerpt, /proxy_buffering off/)
  assert.ok(readFileSync('ops/nginx.conf', 'utf8').includes(excerpt))
})
