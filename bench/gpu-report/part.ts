/**
 * The process of one part: `part.ts NAME FILE OPTIONS`, OPTIONS as JSON. Writes what it found to
 * FILE; until it ends, what it has found so far is in FILE.partial.
 */
import { renameSync, writeFileSync } from 'node:fs'
import type { Options } from './options.ts'
import { PARTS } from './parts.ts'
import type { PartResult } from './report.ts'

const [name = '', file = '', words = '{}'] = process.argv.slice(2)
const options = JSON.parse(words) as Options
const part = PARTS[name]!
const run = await part.load()
const startedAt = performance.now()
const seconds = () => (performance.now() - startedAt) / 1_000
const secondsMax = 0.8 * Math.min(part.secondsMax, options.limitSeconds)
const result: PartResult & { notes: string[] } = {
  title: part.title,
  seconds: 0,
  rows: [],
  notes: [],
}
for await (const found of run(options, () => seconds() < secondsMax)) {
  if (typeof found === 'string') result.notes.push(found)
  else result.rows.push(found)
  write(`${file}.partial`)
}
write(file)
process.exit(0) // whatever a part has left running ends with it

/** Under another name first, so that a file that is there is whole. */
function write(to: string) {
  result.seconds = Number(seconds().toFixed(1))
  writeFileSync(`${file}.new`, `${JSON.stringify(result, null, 1)}\n`)
  renameSync(`${file}.new`, to)
}
