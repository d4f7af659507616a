/** What every package holds: the sources of the service, the page, the client as one file. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What runs the service: not its tests, nor what trains the model. */
const FOLDERS = ['gateway', 'engine', 'models', 'shared', 'proto', 'scripts', 'clients/typescript']
const FILES = [
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE'],
  ...['examples/README.md', 'examples/speech-over-piano.wav'], // doctor separates a second of it
]
/** Programs that make what is shipped, or test it. */
const FOR_CHECKOUTS =
  'campaign client-types docs fuzz gpu-programme licences ops package quality-sounds ' +
  'screenshots simulate'
const LEFT_OUT = new RegExp(
  [
    '^models/mini/(training|pictures)/',
    `^scripts/(${FOR_CHECKOUTS.replaceAll(' ', '|')})[./]`,
    '\\.gitignore$',
  ].join('|'),
)

/** Packages that are no ES modules call it. */
const REQUIRE =
  "import { createRequire } from 'node:module';" + 'const require = createRequire(import.meta.url);'

/** What package.json says. */
export const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Readonly<
  Record<'name' | 'version' | 'description' | 'license', string>
> & { engines: object }

/** Copies the service's sources and the page into `folder`. */
export function laySources(folder: string): void {
  for (const file of tracked(...FOLDERS, ...FILES)) {
    if (!LEFT_OUT.test(file)) copyInto(folder, file)
  }
  for (const site of ['.runtime/web', '.runtime/docs']) {
    cpSync(join(ROOT, site), join(folder, site), { recursive: true })
  }
}

/** The files of the checkout at or below these paths that belong to the repository. */
export const tracked = (...paths: readonly string[]): string[] =>
  execFileSync('git', ['ls-files', '-z', ...paths], { encoding: 'utf8', cwd: ROOT })
    .split('\0')
    .filter(Boolean)

/** Copies a file of the checkout to its path below `folder`. */
export function copyInto(folder: string, file: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  cpSync(join(ROOT, file), join(folder, file))
}

/**
 * Lays the command `winnow` into `folder`, with the client, which needs nothing else.
 * @param app how the command finds the service's sources: a file of this folder
 */
export async function layCommand(folder: string, app: string): Promise<void> {
  const place = join(ROOT, 'scripts/package')
  cpSync(join(place, 'winnow.mjs'), join(folder, 'winnow.mjs'))
  cpSync(join(place, app), join(folder, 'app.mjs'))
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['scripts/separate.ts'],
    outfile: join(folder, 'separate.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: { js: REQUIRE },
  })
}
