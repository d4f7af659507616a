/**
 * Runs one part in its own process: `part.ts NAME FILE OPTIONS`, OPTIONS as JSON. Writes the result
 * to FILE, and until the part ends, what exists so far to FILE.partial.
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
for await (const rowOrNote of run(options, () => seconds() < secondsMax)) {
  if (typeof rowOrNote === 'string') result.notes.push(rowOrNote)
  else result.rows.push(rowOrNote)
  write(`${file}.partial`)
}
write(file)
process.exit(0) // also ends whatever the part left running

/** Writes under another name first, so that a file with the right name is complete. */
function write(to: string) {
  result.seconds = Number(seconds().toFixed(1))
  writeFileSync(`${file}.new`, `${JSON.stringify(result, null, 1)}\n`)
  renameSync(`${file}.new`, to)
}
