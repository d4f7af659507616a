// `npm run dev`: sets up what a change needs, then starts the service. Node starts this file again
// whenever a source changes (--watch-path in package.json), after the service has stopped in order.

import { spawnSync } from 'node:child_process'

// In a process of its own, because its handlers of signals would end the service before its own do.
const { status } = spawnSync(process.execPath, ['scripts/setup/setup.mjs'], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
process.argv.splice(2, Infinity, 'scripts/cli/start.ts')
await import('../run.mjs')
