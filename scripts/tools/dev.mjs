// `npm run dev`: runs set-up for whatever a change needs, then starts the service. Node restarts
// this file whenever a source changes (--watch-path in package.json), once the service has shut
// down in an orderly way.

import { spawnSync } from 'node:child_process'

// A separate process, because set-up's signal handlers would otherwise exit before the service has
// shut down.
const { status } = spawnSync(process.execPath, ['scripts/setup/setup.mjs'], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
process.argv.splice(2, Infinity, 'scripts/cli/start.ts')
await import('../run.mjs')
