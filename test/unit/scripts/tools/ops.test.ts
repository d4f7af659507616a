import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { withMetricsTable } from '../../../../scripts/tools/ops/metrics-table.ts'
import { METRICS } from '../../../../shared/telemetry/metric-definitions.ts'

const SUFFIX = /_(bucket|sum|count)$/

test('the table of metrics is that of the definitions', () => {
  const document = readFileSync('docs/reference/metrics.md', 'utf8')
  assert.ok(document === withMetricsTable(document), 'run npm run winnow -- ops')
})

test('panels and alerts name no metric that is not defined', () => {
  const files = ['ops/grafana-dashboard.json', 'ops/alerts.yml']
  const texts = files.map((file) => readFileSync(file, 'utf8'))
  const named = texts.flatMap((text) => text.match(/\bwinnow_\w+/g) ?? [])
  assert.ok(named.length > 50)
  const known = Object.keys(METRICS)
  const unknown = named.filter(
    (name) => !known.includes(name) && !known.includes(name.replace(SUFFIX, '')),
  )
  assert.deepEqual(unknown, [])
})

test('the excerpts of nginx.conf in the documents are in the file that the tests run', () => {
  const page = readFileSync('docs/how-to/reverse-proxy.md', 'utf8')
  const [, excerpt = ''] = /```text\n(    client_max[\s\S]*?)```/.exec(page) ?? []
  assert.match(excerpt, /proxy_buffering off/)
  assert.ok(readFileSync('ops/nginx.conf', 'utf8').includes(excerpt))
})
