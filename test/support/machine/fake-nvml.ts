/** Stands in for NVIDIA's management library. It is compiled, so the real binding is tested. */

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const SOURCE = fileURLToPath(new URL('./fake-nvml.cc', import.meta.url))

/** Returns the path of the library, and its folder for LD_LIBRARY_PATH. */
export async function buildFakeNvml(t: TestContext): Promise<{ folder: string; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'nvml-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'libnvidia-ml.so.1')
  const compiler = process.env.CXX || 'g++' // set-up needs a compiler too
  await promisify(execFile)(compiler, ['-shared', '-fPIC', '-o', path, SOURCE])
  return { folder, path }
}
