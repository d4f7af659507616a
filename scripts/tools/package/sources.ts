/**
 * Copies what every package contains: the sources of the service, the page, and each client as one
 * file.
 */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { COMMANDS } from '../../cli/table.mjs'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * Paths, as git takes them, of what runs the service: no tests, no developers' tools, no training.
 */
export const SHIPPED = [
  ...['gateway', 'engine', 'models', 'shared', 'proto', 'clients/typescript'],
  ...['scripts/cli', 'scripts/setup', 'scripts/run.mjs'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE'],
  // for doctor, which separates one second of it
  ...['examples/README.md', 'examples/speech-over-piano.wav'],
  ...[':!models/training', ':!models/mini/pictures', ':!*.gitignore'],
]

/** Bundled CommonJS packages call `require`. */
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

/** Fields of package.json. */
export const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Readonly<
  Record<'name' | 'version' | 'description' | 'license' | 'homepage' | 'bugs', string>
> & { engines: object; repository: object }

/** Copies the service's sources, the page, the documents and the clients into `folder`. */
export function laySources(folder: string): void {
  for (const file of tracked(...SHIPPED)) copyInto(folder, file)
  for (const site of ['.runtime/web', '.runtime/docs', '.runtime/clients']) {
    cpSync(join(ROOT, site), join(folder, site), { recursive: true })
  }
}

/** Lists the tracked files that match the paths, as git takes them. */
export const tracked = (...paths: readonly string[]): string[] =>
  execFileSync('git', ['ls-files', '-z', ...paths], { encoding: 'utf8', cwd: ROOT })
    .split('\0')
    .filter(Boolean)

/** Copies a file of the checkout to the same path below `folder`. */
export function copyInto(folder: string, file: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  cpSync(join(ROOT, file), join(folder, file))
}

/**
 * Copies the command `winnow` into `folder`, with its client commands, which need nothing else.
 * @param installation file of this folder that tells the command where the service's sources are
 */
export async function layCommand(folder: string, installation: string): Promise<void> {
  for (const file of ['winnow.mjs', 'table.mjs']) {
    cpSync(join(ROOT, 'scripts/cli', file), join(folder, file))
  }
  cpSync(join(ROOT, 'scripts/tools/package', installation), join(folder, 'installation.mjs'))
  const clients = Object.keys(COMMANDS).filter((name) => COMMANDS[name]!.isClient)
  await Promise.all(clients.map((name) => layClient(folder, name)))
}

/**
 * Bundles a client command into one file, which takes the command line of `winnow`, its own name
 * included.
 */
const layClient = (folder: string, name: string) =>
  build({
    absWorkingDir: ROOT,
    stdin: {
      contents: `import { runMain } from './command.ts'
        import * as commands from './${name}/command.ts'
        process.argv.splice(2, 1)
        await runMain(commands.${name})`,
      resolveDir: join(ROOT, 'scripts/cli'),
      loader: 'ts',
    },
    outfile: join(folder, `${name}.mjs`),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: { js: REQUIRE },
  })
