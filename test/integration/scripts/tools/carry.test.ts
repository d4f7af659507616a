/** An installation cut into pieces and put together elsewhere is the same. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { noise } from '../../../support/media/signals.ts'

const CARRY = 'scripts/tools/carry'
const root = mkdtempSync(join(tmpdir(), 'carry-'))
after(() => rmSync(root, { recursive: true }))

const carry = (...words: string[]) => {
  const { status, stdout, stderr } = spawnSync(CARRY, words, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

const NVIDIA = '.runtime/tensorflow/nvidia'
const TENSORFLOW = '.runtime/tensorflow/tensorflow'

/** A checkout as set-up leaves it, in small; the numbers do not compress. */
function checkout(): string {
  const folder = join(root, 'checkout')
  const library = (seed: number) => Buffer.from(noise(0.5, 44_100, seed).buffer)
  const files: Record<string, Buffer | string> = {
    'package.json': '{}',
    'engine/main.ts': '// an engine',
    'node_modules/binding/lib/binding.node': library(1),
    [`${TENSORFLOW}/libtensorflow_cc.so.2`]: library(2),
    [`${TENSORFLOW}/include/tensorflow/c/c_api.h`]: '// a header',
    [`${NVIDIA}/cublas/lib/libcublas.so.12`]: library(3),
    [`${NVIDIA}/cudnn/lib/libcudnn.so.9`]: library(4),
    '.git/HEAD': 'ref: refs/heads/main',
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  symlinkSync(`../../${TENSORFLOW}`, join(folder, 'node_modules/binding/deps'))
  return folder
}

const from = checkout()
const node = join(root, 'node')
writeFileSync(node, '#!/bin/sh\necho v20.19.0\n', { mode: 0o755 })
const cublas = join(root, 'libcublas.so.12')
writeFileSync(cublas, 'of the host')
const have = join(root, 'have.txt')
writeFileSync(have, `libc.so.6 /lib/libc.so.6\nlibcublas.so.12 ${cublas}\n`)
const pieces = join(root, 'pieces')

test('pieces have the size, and are put together to the same', () => {
  const words = ['--out', pieces, '--size', '64K', '--have', have, '--from', from, '--node', node]
  const cut = carry('cut', ...words)
  assert.equal(cut.status, 0, cut.stderr)
  const names = readdirSync(pieces).filter((name) => name.startsWith('piece-'))
  assert.ok(names.length > 3, `${names.length} pieces`)
  for (const name of names) assert.ok(lstatSync(join(pieces, name)).size <= 65_536, name)

  const there = join(root, 'there')
  const joined = carry('join', pieces, there)
  assert.equal(joined.status, 0, joined.stderr)
  for (const name of ['engine/main.ts', `${TENSORFLOW}/libtensorflow_cc.so.2`]) {
    assert.deepEqual(readFileSync(join(there, name)), readFileSync(join(from, name)), name)
  }
  assert.equal(readlinkSync(join(there, 'node_modules/binding/deps')), `../../${TENSORFLOW}`)
  assert.ok(existsSync(join(there, `${NVIDIA}/cudnn/lib/libcudnn.so.9`)), 'what the host lacks')
  assert.equal(readlinkSync(join(there, `${NVIDIA}/cublas/lib/libcublas.so.12`)), cublas)
  for (const name of ['.git', `${TENSORFLOW}/include`]) assert.ok(!existsSync(join(there, name)))
  const version = spawnSync(join(there, '.carried/bin/node'), { encoding: 'utf8' }).stdout
  assert.equal(version, 'v20.19.0\n')
})

test('a piece that is missing or damaged is named, and nothing is laid', () => {
  rmSync(join(pieces, 'piece-0001'))
  writeFileSync(join(pieces, 'piece-0002'), 'damaged')
  const nowhere = join(root, 'nowhere')
  const { status, stderr } = carry('join', pieces, nowhere)
  assert.equal(status, 1)
  assert.match(stderr, /missing or damaged: piece-0001 piece-0002/)
  assert.ok(!existsSync(nowhere))
})

test('what the host has is listed by name and place', () => {
  const { status, stdout } = carry('have')
  assert.equal(status, 0)
  assert.match(stdout, /^libc\.so\.6 \/\S*libc\.so\.6$/m)
})

test('a wrong command line says what would be right', () => {
  for (const words of [[], ['cut'], ['cut', '--size'], ['join', pieces], ['look']]) {
    const { status, stderr } = carry(...words)
    assert.equal(status, 2, words.join(' '))
    assert.match(stderr, /carry join DIR TARGET/)
  }
})
