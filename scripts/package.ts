/**
 * `npm run package`: makes dist/winnow-<version>.tgz for `npm install` or `npx`: the client as one
 * file, and the sources of the service, which install their own dependencies by the lock file. As
 * dependencies of the package, npm would run their install scripts and ignore the lock.
 */

import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

/** What runs the service: not its tests, nor what trains the model. */
const FOLDERS = ['gateway', 'engine', 'models', 'shared', 'proto', 'scripts', 'clients/typescript']
const FILES = ['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE']
const LEFT_OUT = ['models/mini/training/', 'models/mini/pictures/', 'scripts/package']

/** Packages that are no ES modules call it. */
const REQUIRE =
  "import { createRequire } from 'node:module';" + 'const require = createRequire(import.meta.url);'

const out = 'dist/package'
rmSync('dist', { recursive: true, force: true })
mkdirSync(join(out, 'app'), { recursive: true })

const tracked = execFileSync('git', ['ls-files', '-z', ...FOLDERS, ...FILES], { encoding: 'utf8' })
for (const file of tracked.split('\0').filter(Boolean)) {
  if (LEFT_OUT.some((prefix) => file.startsWith(prefix))) continue
  mkdirSync(dirname(join(out, 'app', file)), { recursive: true })
  cpSync(file, join(out, 'app', file))
}
for (const site of ['.runtime/web', '.runtime/docs']) {
  cpSync(site, join(out, 'app', site), { recursive: true })
}
for (const file of ['winnow.mjs', 'app.mjs']) cpSync(join('scripts/package', file), join(out, file))
chmodSync(join(out, 'winnow.mjs'), 0o755)
for (const file of ['README.md', 'LICENSE']) cpSync(file, join(out, file))
await build({
  entryPoints: ['scripts/separate.ts'],
  outfile: join(out, 'separate.mjs'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  banner: { js: REQUIRE },
})

const { name, version, description, license, engines } = JSON.parse(
  readFileSync('package.json', 'utf8'),
) as Record<string, unknown>
const manifest = { name, version, description, license, type: 'module', engines }
const only = { os: ['linux'], cpu: ['x64'], bin: { winnow: 'winnow.mjs' } }
writeFileSync(join(out, 'package.json'), JSON.stringify({ ...manifest, ...only }, null, 2))
const packed = execFileSync('npm', ['pack', '--silent', `./${out}`, '--pack-destination=dist'], {
  encoding: 'utf8',
})
console.log(`dist/${packed.trim()}`)
