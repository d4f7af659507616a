/** NVIDIA's management library where there is no GPU: compiled, so that its binding is real. */

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const SOURCE = fileURLToPath(new URL('./fake-nvml.cc', import.meta.url))

/** The folder that the library is in, for LD_LIBRARY_PATH, and its path. */
export async function buildFakeNvml(t: TestContext): Promise<{ folder: string; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'nvml-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'libnvidia-ml.so.1')
  const compiler = process.env.CXX || 'g++' // which set-up needs, too
  await promisify(execFile)(compiler, ['-shared', '-fPIC', '-o', path, SOURCE])
  return { folder, path }
}
