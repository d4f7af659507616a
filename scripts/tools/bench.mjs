// `npm run bench -- NAME …`: runs bench/NAME.ts with the other arguments.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'

/** Modules of several benches, which are no benches themselves. */
const SHARED = ['report.ts', 'process-usage.ts', 'measuring-process.ts']

const [name, ...rest] = process.argv.slice(2)
const program = `bench/${name}.ts`
if (!name || !existsSync(program)) {
  const names = readdirSync('bench')
    .filter((file) => file.endsWith('.ts') && !SHARED.includes(file))
    .map((file) => file.slice(0, -'.ts'.length))
  console.error(`usage: npm run bench -- NAME …, NAME being one of ${names.join(', ')}`)
  process.exit(2)
}
const { status } = spawnSync(process.execPath, ['--import', 'tsx', program, ...rest], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
