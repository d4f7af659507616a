/**
 * Lays the content of every package: the sources of the service, the page, each client as one file.
 */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { COMMANDS } from '../../cli/table.mjs'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Runs the service: neither its tests and tools, nor what trains the model. As git takes paths. */
const SHIPPED = [
  ...['gateway', 'engine', 'models', 'shared', 'proto', 'clients/typescript'],
  ...['scripts/cli', 'scripts/setup', 'scripts/run.mjs'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE'],
  ...['examples/README.md', 'examples/speech-over-piano.wav'], // doctor separates a second of it
  ...[':!models/training', ':!models/mini/pictures', ':!*.gitignore'],
]

/** Packages that are no ES modules call it. */
const REQUIRE =
  "import { createRequire } from 'node:module';" + 'const require = createRequire(import.meta.url);'

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

/** The files of the repository that git finds by these paths. */
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
 * Lays the command `winnow` into `folder`, with its clients, which need nothing else.
 * @param installation how the command finds the service's sources: a file of this folder
 */
export async function layCommand(folder: string, installation: string): Promise<void> {
  for (const file of ['winnow.mjs', 'table.mjs']) {
    cpSync(join(ROOT, 'scripts/cli', file), join(folder, file))
  }
  cpSync(join(ROOT, 'scripts/tools/package', installation), join(folder, 'installation.mjs'))
  const clients = Object.keys(COMMANDS).filter((name) => COMMANDS[name]!.isClient)
  await Promise.all(clients.map((name) => layClient(folder, name)))
}

/** A client as one file, which takes the words of the command line as `winnow` does. */
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
