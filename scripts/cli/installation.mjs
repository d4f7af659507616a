// A checkout, for `npm run winnow`: it has what developers run, besides what packages have.

import { fileURLToPath } from 'node:url'

/** A package's name for the command; messages of a checkout name npm's scripts. */
export const CALLED = undefined

export const MANIFEST = new URL('../../package.json', import.meta.url)

/** Services can be installed on this host from here. */
export const HAS_HOSTS = true

/** By command, from the root of the checkout. */
export const MORE_PROGRAMS = {
  bench: 'scripts/tools/bench.mjs',
  campaign: 'test/campaign/main.ts',
  'client-types': 'scripts/tools/client-types.ts',
  coverage: 'scripts/tools/coverage.mjs',
  docs: 'scripts/tools/docs.ts',
  fuzz: 'test/fuzz/main.ts',
  'gpu-kernels': 'scripts/tools/gpu-kernels.ts',
  'gpu-report': 'bench/gpu-report.ts',
  licences: 'scripts/tools/licences.ts',
  ops: 'scripts/tools/ops.ts',
  package: 'scripts/tools/package.ts',
  parity: 'test/parity/main.ts',
  'quality-sounds': 'scripts/tools/quality-sounds.ts',
  reference: 'scripts/tools/reference.ts',
  release: 'scripts/tools/release.ts',
  screenshots: 'scripts/tools/screenshots.ts',
  simulate: 'test/simulation/main.ts',
}

export const NOTE = `
In this checkout winnow is \`npm run winnow --\`. It has install-host (as root) and, for developers,
${Object.keys(MORE_PROGRAMS).join(' | ')}
`

/** @returns the folder of the sources, which `npm run setup` sets up */
export const prepareApp = () => fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** Runs a client in this process, which has Ctrl-C to itself. */
export function runClient(command) {
  process.argv.splice(2, 1, fileURLToPath(new URL('main.ts', import.meta.url)), command)
  return import('../run.mjs')
}
