/**
 * `npm run winnow -- ops`: writes the two files made from the metric definitions: the table in
 * docs/reference/metrics.md, and the Grafana dashboard.
 */

import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { dashboard } from './ops/dashboard.ts'
import { withMetricsTable } from './ops/metrics-table.ts'

const pathOf = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

const metrics = pathOf('docs/reference/metrics.md')
await writeFile(metrics, withMetricsTable(await readFile(metrics, 'utf8')))
await writeFile(pathOf('ops/grafana-dashboard.json'), dashboard())
