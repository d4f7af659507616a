/**
 * The process of one part: `part.ts NAME FILE OPTIONS`, OPTIONS as JSON. Writes what it found to
 * FILE, under another name first, so that a file that is there is whole.
 */
import { renameSync, writeFileSync } from 'node:fs'
import type { Options } from './options.ts'
import { PARTS } from './parts.ts'

const [name = '', file = '', words = '{}'] = process.argv.slice(2)
const part = PARTS[name]!
const run = await part.load()
const startedAt = performance.now()
const seconds = () => (performance.now() - startedAt) / 1_000
const found = await run(JSON.parse(words) as Options, () => seconds() < 0.8 * part.secondsMax)
const result = { title: part.title, seconds: Number(seconds().toFixed(1)), ...found }
writeFileSync(`${file}.partial`, `${JSON.stringify(result, null, 1)}\n`)
renameSync(`${file}.partial`, file)
process.exit(0) // whatever a part has left running ends with it
