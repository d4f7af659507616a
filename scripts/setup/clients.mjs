// The step that packs the clients for the gateway's /clients. The service can run without them.

import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { builtStep } from './built.mjs'
import { execute, timedDownload } from './commands.mjs'
import { ROOT, RUNTIME } from './files.mjs'

export const clientsStep = () =>
  builtStep({
    title: 'the clients',
    name: 'clients',
    folders: ['clients/python/src', 'clients/typescript'],
    files: [
      ...['pyproject.toml', 'README.md', 'LICENSE'].map((name) => `clients/python/${name}`),
      ...['scripts/setup/clients.mjs', 'tsconfig.json', 'package-lock.json'],
    ],
    build: packClients,
  })

async function packClients(folder) {
  const fresh = mkdtempSync(join(RUNTIME, '.clients-'))
  mkdirSync(join(fresh, 'out'))
  try {
    await packTypeScript(join(fresh, 'npm'), join(fresh, 'out'))
    await packPython(join(fresh, 'out'))
  } catch (error) {
    console.warn(`WARNING: ${error.message}\nWinnow runs without all of /clients.\n`)
  }
  rmSync(folder, { recursive: true, force: true })
  renameSync(join(fresh, 'out'), folder)
  rmSync(fresh, { recursive: true })
}

async function packTypeScript(folder, out) {
  await layTypeScript(folder)
  const words = ['pack', '--silent', '--ignore-scripts', '--pack-destination', out]
  await execute('npm', words, { cwd: folder, quiet: true })
}

/** Makes the folder that npm packs: the compiled client, with its types. */
export async function layTypeScript(folder) {
  const source = join(ROOT, 'clients/typescript')
  mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', 'README.md', 'LICENSE']) {
    copyFileSync(join(source, name), join(folder, name))
  }
  const tsc = join(ROOT, 'node_modules/typescript-native/bin/tsc')
  await execute(process.execPath, [tsc, '-p', source, '--outDir', join(folder, 'dist')])
}

/** Downloads the build backend that pyproject.toml pins from PyPI, hence the timing. */
const packPython = (out) =>
  timedDownload(() =>
    execute(
      'python3',
      [
        ...['-m', 'pip', 'wheel', '--quiet', '--disable-pip-version-check', '--no-deps'],
        ...['--wheel-dir', out, join(ROOT, 'clients/python')],
      ],
      { quiet: true },
    ),
  )
