/**
 * `npm run winnow -- ops`: writes the table of docs/reference/metrics.md from the metric
 * definitions.
 */

import { readFile, writeFile } from 'node:fs/promises'
import { withMetricsTable } from './ops/metrics-table.ts'

const page = new URL('../../docs/reference/metrics.md', import.meta.url)
await writeFile(page, withMetricsTable(await readFile(page, 'utf8')))
