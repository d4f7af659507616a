/**
 * Installs the Python client as a user would: as a wheel, in a folder with the packages that its
 * tests need.
 */

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { python, pythonPackages } from '../packages/python-packages.ts'

export const PYTHON_CLIENT = 'clients/python'
export const COMFYUI_NODES = 'clients/comfyui'

/**
 * Builds and installs the wheel in a folder that is removed after the test.
 * @returns the value for PYTHONPATH
 */
export async function installPythonClient(t: TestContext): Promise<string> {
  const packages = await pythonPackages(
    'httpx==0.28.1',
    'pytest==9.2.0',
    'mypy==2.4.1',
    'ruff==0.17.6',
    'hatchling==1.33.0',
    'numpy==2.4.6', // for the ComfyUI nodes; ComfyUI itself provides it to users
  )
  const folder = await mkdtemp(join(tmpdir(), 'winnow-python-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const offline = ['--quiet', '--disable-pip-version-check', '--no-index', '--no-deps']
  await pip(packages, 'wheel', ...offline, '--no-build-isolation', '-w', folder, PYTHON_CLIENT)
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl')) ?? ''
  const installed = join(folder, 'installed')
  await pip(packages, 'install', ...offline, '--target', installed, join(folder, wheel))
  return `${installed}:${packages}`
}

async function pip(path: string, ...words: string[]): Promise<void> {
  const { code, output } = await python(['-m', 'pip', ...words], { PYTHONPATH: path })
  if (code !== 0) throw new Error(`pip ${words.join(' ')}:\n${output}`)
}
