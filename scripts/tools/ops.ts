/**
 * `npm run ops`: writes what is made from the definitions of the metrics: their table in
 * docs/operations.md, and the dashboard.
 */

import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { dashboard } from './ops/dashboard.ts'
import { withMetricsTable } from './ops/metrics-table.ts'

const pathOf = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

const operations = pathOf('docs/operations.md')
await writeFile(operations, withMetricsTable(await readFile(operations, 'utf8')))
await writeFile(pathOf('ops/grafana-dashboard.json'), dashboard())
