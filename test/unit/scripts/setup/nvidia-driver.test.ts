import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  driverProblem,
  driverText,
  driverVersion,
} from '../../../../scripts/setup/nvidia-driver.mjs'

const closed = (version: string) =>
  `NVRM version: NVIDIA UNIX x86_64 Kernel Module  ${version}  Tue Nov  4 20:43:37 UTC 2025\n` +
  'GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)\n'
const open = (version: string) =>
  `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  ${version}  Release Build  (root@host)\n` +
  'GCC version:  gcc version 12.3.0\n'

test('the version is found in the output of closed and open kernel modules', () => {
  assert.equal(driverVersion(closed('535.183.01')), '535.183.01')
  assert.equal(driverVersion(open('570.86.10')), '570.86.10')
  assert.equal(driverVersion('GCC version:  gcc version 11.4.0 (Ubuntu)\n'), '')
  assert.equal(driverVersion(''), '')
})

test('the oldest driver that CUDA 12 supports, and any later one, is fine', () => {
  for (const version of [
    '525.60.13',
    '525.60.14',
    '525.105.17',
    '535.183.01',
    '580.95.05',
    '610.1',
  ]) {
    assert.equal(driverProblem(closed(version)), '')
  }
})

test('a driver that is absent, too old or has no version is reported', () => {
  assert.match(driverProblem(null), /no NVIDIA driver is loaded/)
  for (const version of ['525.60.12', '525.60', '520.61.05', '470.256.02']) {
    assert.match(
      driverProblem(open(version)),
      new RegExp(`driver is ${version}; CUDA 12 needs 525\\.60\\.13 or later`),
    )
  }
  assert.match(driverProblem('nothing known'), /names no driver version/)
})

test('without a file from the kernel module nvidia-smi is asked; if that fails there is no driver', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-driver-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const command = (name: string, script: string) => {
    const path = join(folder, name)
    writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return path
  }
  const absent = join(folder, 'version')
  const smi = command('smi', 'echo 550.54.15; echo 550.54.15') // one line per GPU
  const broken = command('broken', 'echo "NVIDIA-SMI has failed: 9"; exit 9')
  const silent = command('silent', 'echo "No devices were found"')
  assert.equal(driverText(absent, ['/no/such/nvidia-smi', broken, silent]), null)
  const text = driverText(absent, [broken, smi])!
  assert.equal(driverVersion(text), '550.54.15')
  assert.equal(driverProblem(text), '')
  writeFileSync(absent, open('570.86.10'))
  assert.equal(driverVersion(driverText(absent, [smi])!), '570.86.10')
})
