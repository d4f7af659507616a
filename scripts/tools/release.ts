/** `winnow release VERSION`, as described in docs/how-to/release.md. */

import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cutRelease } from './release/cut-release.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const USAGE = 'usage: npm run winnow -- release VERSION [--repository https://…], such as 1.2.3\n'

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { repository: { type: 'string' } },
  })
  const [version, ...others] = positionals
  if (version === undefined || others.length > 0) {
    process.stderr.write(USAGE)
    process.exit(2)
  }
  cutRelease(ROOT, { version, date: new Date().toISOString().slice(0, 10), ...values })
  process.stdout.write(`Committed and tagged v${version}. Publish: docs/how-to/release.md\n`)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
