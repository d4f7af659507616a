/** The Debian package, without what set-up fetches; test/package builds it completely. */

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import test, { before } from 'node:test'
import { packDeb } from '../../../../scripts/tools/package/deb.ts'
import { debianParts } from '../../../../scripts/tools/licences/parts.ts'
import { layCommand, laySources } from '../../../../scripts/tools/package/sources.ts'
import { makePackage } from '../../../../scripts/tools/package/command.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { assertProgram } from '../../../support/machine/debian-package.ts'
import { runCommand } from '../../../support/processes/run-command.ts'

before(() => {
  assertProgram('dpkg-deb', 'dpkg')
  assertProgram('lintian', 'lintian')
})

const run = (program: string, ...words: string[]): string =>
  execFileSync(program, words, { encoding: 'utf8', maxBuffer: 2 ** 26 })

test('the Debian package has units for its paths and settings that upgrades keep, and satisfies lintian', async (t) => {
  const folder = temporaryFolder(t)
  const root = join(folder, 'root')
  laySources(join(root, 'usr/lib/winnow'))
  await layCommand(join(root, 'usr/lib/winnow'), 'debian-installation.mjs')
  const deb = packDeb(root, 'cpu', folder)

  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
  assert.equal(run('dpkg-deb', '--field', deb, 'Version').trim(), version)
  run('dpkg-deb', '--raw-extract', deb, join(folder, 'raw'))
  const read = (path: string) => readFile(join(folder, 'raw', path), 'utf8')
  assert.equal(await read('DEBIAN/conffiles'), '/etc/winnow/winnow.env\n')
  const unit = await read('usr/lib/systemd/system/winnow-engine@.service')
  assert.match(
    unit,
    /^ExecStart=\/usr\/lib\/winnow\/node\/bin\/node scripts\/run\.mjs engine\/main\.ts$/m,
  )
  assert.match(unit, /^WorkingDirectory=\/usr\/lib\/winnow$/m)
  await read('usr/lib/winnow/docs/README.md') // the units' Documentation= links to it
  const sums = spawnSync('md5sum', ['--check', '--quiet', 'DEBIAN/md5sums'], {
    cwd: join(folder, 'raw'),
    encoding: 'utf8',
  })
  assert.equal(sums.status, 0, sums.stderr)
  for (const script of ['postinst', 'prerm', 'postrm']) {
    run('sh', '-n', join(folder, 'raw/DEBIAN', script))
  }
  const winnow = join(folder, 'raw/usr/lib/winnow/winnow.mjs')
  assert.equal(run(process.execPath, winnow, '--version').trim(), version)
  assert.match(run(process.execPath, winnow, 'separate', '--help'), /^Usage: winnow separate </)

  const complaints = ['--fail-on', 'error,warning', '--allow-root']
  const lintian = spawnSync('lintian', [...complaints, deb], { encoding: 'utf8' })
  const problems = lintian.stdout.split('\n').filter((line) => /^[EW]:/.test(line))
  assert.deepEqual([problems, lintian.status], [[], 0], lintian.stderr)
})

/** Files that a program imports or reads. */
const NAMED = /(?:new URL\(\s*|from |import\()['`](\.[^'`]+)['`]/g

test('packages contain every file that their programs name', async (t) => {
  const folder = temporaryFolder(t)
  laySources(folder)
  const programs = (await readdir(folder, { recursive: true })).filter((path) =>
    /\.m?[jt]s$/.test(path),
  )
  const absent: string[] = []
  for (const program of programs) {
    const text = await readFile(join(folder, program), 'utf8')
    for (const [, named = ''] of text.matchAll(NAMED)) {
      const path = relative(folder, join(folder, dirname(program), named))
      const isFetched = path.startsWith('.runtime/') // by set-up
      if (!isFetched && !existsSync(join(folder, path))) absent.push(`${program}: ${path}`)
    }
  }
  assert.deepEqual(absent, [])
  assert.ok(programs.length > 100)
})

test('the package for GPUs replaces the one for processors', async (t) => {
  const folder = temporaryFolder(t)
  await mkdir(join(folder, 'root/usr/lib/winnow'), { recursive: true })
  const deb = packDeb(join(folder, 'root'), 'cuda', folder)
  assert.match(
    run('dpkg-deb', '--field', deb, 'Package', 'Version'),
    /^Package: winnow\nVersion: \d+\.\d+\.\d+\+cuda\n$/,
  )
  const bill = run(
    'sh',
    '-c',
    `dpkg-deb --fsys-tarfile ${deb} | tar -xO ./usr/share/doc/winnow/winnow.cdx.json`,
  )
  assert.match(bill, /pkg:pypi\/nvidia-cudnn-cu12@/)
  assert.doesNotMatch(bill, /pkg:pypi\/tensorflow-cpu@/)
})

test('Debian packages in an image become parts of its bill of materials', () => {
  const [part, other] = debianParts('zlib1g\t1:1.3.1+b1\tZlib|GPL-2\nodd\t1\t\n')
  assert.equal(part?.licence, 'Zlib, GPL-2')
  assert.equal(part?.url, 'pkg:deb/debian/zlib1g@1%3A1.3.1%2Bb1?arch=amd64')
  assert.equal(other?.licence, 'see /usr/share/doc/odd/copyright')
})

test('a wrong command line is explained', async () => {
  const command = (words: string[]) => runCommand(makePackage, words)
  const kind = await command(['rpm'])
  assert.match(kind.errors, /^There is no package "rpm"\.\n\nnpm run winnow -- package /)
  const compute = await command(['deb', '--compute', 'tpu'])
  assert.match(compute.errors, /^--compute takes cpu or cuda, not "tpu"\./)
  assert.deepEqual([kind.code, compute.code, (await command(['--help'])).code], [2, 2, 0])
})
