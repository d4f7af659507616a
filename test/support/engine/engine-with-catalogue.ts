/** Starts an engine that can also fetch the models in TEST_CATALOGUE (JSON). */

import { CATALOGUE, type CatalogueEntry } from '../../../engine/installing/catalogue.ts'

const entries = JSON.parse(process.env.TEST_CATALOGUE!) as CatalogueEntry[]
;(CATALOGUE as CatalogueEntry[]).push(...entries)
await import('../../../engine/main.ts')
