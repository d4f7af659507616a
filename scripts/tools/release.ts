/** `winnow release VERSION`: docs/how-to/release.md. */

import { fileURLToPath } from 'node:url'
import { release } from './release/release.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const [version, ...others] = process.argv.slice(2)
if (version === undefined || others.length > 0) {
  process.stderr.write('usage: npm run winnow -- release VERSION, such as 1.2.3\n')
  process.exit(2)
}
try {
  release(ROOT, version, new Date().toISOString().slice(0, 10))
  process.stdout.write(`Committed and tagged v${version}. Publish: docs/how-to/release.md\n`)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
