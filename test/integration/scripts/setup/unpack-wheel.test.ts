import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'

const UNPACK = fileURLToPath(new URL('../../../../scripts/setup/unpack_wheel.py', import.meta.url))

const folder = temporaryFolder({ after })

/** Makes a wheel of members with these modes, in zipfile's format. */
function makeWheel(members: Readonly<Record<string, number>>): string {
  const file = join(folder, 'made.whl')
  const program = [
    'import json, sys, zipfile',
    'with zipfile.ZipFile(sys.argv[1], "w") as archive:',
    '    for name, mode in json.loads(sys.argv[2]).items():',
    '        entry = zipfile.ZipInfo(name)',
    '        entry.external_attr = (0o100000 | mode) << 16 if mode else 0',
    '        archive.writestr(entry, "x")',
  ].join('\n')
  execFileSync('python3', ['-c', program, file, JSON.stringify(members)])
  return file
}

test('programs are executable, even if the wheel does not say so; other files are not', () => {
  const wheel = makeWheel({
    'nvidia/cuda_nvcc/bin/ptxas': 0o755,
    'nvidia/cuda_nvcc/bin/fatbinary': 0,
    'nvidia/cuda_nvcc/nvvm/tool': 0o755,
    'nvidia/cuda_nvcc/include/nvvm.h': 0o644,
    'other/left.txt': 0o644,
  })
  const target = join(folder, 'unpacked')
  execFileSync('python3', [UNPACK, wheel, target, JSON.stringify({ 'nvidia/': 'nvidia/' })])
  const mode = (name: string) => statSync(join(target, 'nvidia/cuda_nvcc', name)).mode & 0o777
  assert.deepEqual(
    ['bin/ptxas', 'bin/fatbinary', 'nvvm/tool', 'include/nvvm.h'].map(mode),
    [0o755, 0o755, 0o755, 0o644],
  )
  assert.throws(() => statSync(join(target, 'other')))
})
