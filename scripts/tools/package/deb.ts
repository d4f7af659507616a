/**
 * Makes dist/winnow_<version>_amd64.deb: the service, already set up, with the Node that runs it.
 */

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { apply } from '../../cli/install-host/apply.ts'
import { planPackage } from '../../cli/install-host/plan.ts'
import { installationBill } from '../licences/bill-of-materials.ts'
import { readParts } from '../licences/parts.ts'
import type { Compute, Say } from './types.ts'
import { INSTALLED, layInstallation, NODE } from './installation.ts'
import { copyInto, manifest, ROOT, tracked } from './sources.ts'

const OWN = join(ROOT, 'scripts/tools/package/deb')
const DOCUMENTS = 'usr/share/doc/winnow'

/**
 * CUDA's libraries get a tenth larger than with xz at its fastest setting, in a fortieth of the
 * time.
 */
const COMPRESSION = ['-Zzstd', '-z3']

/**
 * CPU and CUDA are versions of one package, so that installing one replaces the other and keeps
 * settings and data.
 */
const versionOf = (compute: Compute): string =>
  compute === 'cpu' ? manifest.version : `${manifest.version}+cuda`

/** @returns the path of the package, from the root of the checkout */
export async function makeDeb(compute: Compute, say: Say): Promise<string> {
  const root = join(ROOT, 'dist/deb')
  rmSync(root, { recursive: true, force: true })
  say('Setting the service up (some minutes) …')
  await layInstallation(join(root, INSTALLED), compute)
  say('Packing …')
  const made = packDeb(root, compute, join(ROOT, 'dist'))
  rmSync(root, { recursive: true })
  return made.slice(ROOT.length)
}

/**
 * Adds the other files of a package to the installation in `root`, and packs it.
 * @returns the path of the package in `folder`
 */
export function packDeb(root: string, compute: Compute, folder: string): string {
  const unit = (file: string) =>
    readFileSync(join(ROOT, 'scripts/cli/install-host/units', file), 'utf8')
  const node = join(INSTALLED, NODE)
  const place = { root, dryRun: false, say: () => undefined }
  apply(planPackage({ checkout: INSTALLED, node, unit }), place)
  layDocuments(root, compute)
  write(join(root, 'usr/bin/winnow'), own('winnow'), 0o755)
  const date = new Date(Number(commitSeconds()) * 1_000).toUTCString().replace('GMT', '+0000')
  const entry = `winnow (${versionOf(compute)}) unstable; urgency=medium\n\n  * CHANGELOG.md.\n\n`
  const changes = `${entry} -- ${maintainer()}  ${date}\n`
  write(join(root, DOCUMENTS, 'changelog.gz'), gzipSync(changes, { level: 9 }))
  write(join(root, 'usr/share/man/man1/winnow.1.gz'), gzipSync(own('winnow.1'), { level: 9 }))
  const overrides = [
    own('lintian-overrides'),
    ...(compute === 'cuda' ? [own('lintian-overrides-cuda')] : []),
  ]
  write(join(root, 'usr/share/lintian/overrides/winnow'), overrides.join(''))
  for (const script of ['postinst', 'prerm', 'postrm']) {
    write(join(root, 'DEBIAN', script), own(script), 0o755)
  }
  write(join(root, 'DEBIAN/conffiles'), '/etc/winnow/winnow.env\n')
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', root])
  write(join(root, 'DEBIAN/md5sums'), checksums(root))
  write(join(root, 'DEBIAN/control'), control(compute, root))
  const path = join(folder, `winnow_${versionOf(compute)}_amd64.deb`)
  execFileSync('dpkg-deb', ['--root-owner-group', ...COMPRESSION, '--build', root, path], {
    env: { ...process.env, SOURCE_DATE_EPOCH: commitSeconds() },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return path
}

/**
 * Writes the documents and the bill of materials to where the units and the sources expect them.
 */
function layDocuments(root: string, compute: Compute): void {
  const folder = join(root, DOCUMENTS)
  const documents = tracked('README.md', 'CHANGELOG.md', 'docs/*.md', 'docs/decisions')
  for (const file of documents) copyInto(folder, file)
  write(join(folder, 'copyright'), own('copyright'))
  const bill = installationBill(readParts({ folder: join(root, INSTALLED), compute }))
  write(join(folder, 'winnow.cdx.json'), `${JSON.stringify(bill)}\n`)
  symlinkSync('../../share/doc/winnow/docs', join(root, INSTALLED, 'docs'))
}

const own = (file: string): string => readFileSync(join(OWN, file), 'utf8')

function write(path: string, text: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  chmodSync(path, mode)
}

/** Time of the last commit, so that two builds of one commit are identical. */
const commitSeconds = (): string =>
  execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }).trim()

/** Read from the variables that Debian's own tools use. */
function maintainer(): string {
  const { DEBFULLNAME: name = 'Winnow', DEBEMAIL: email = 'winnow@localhost' } = process.env
  return `${name} <${email}>`
}

function checksums(root: string): string {
  const files = execFileSync('find', ['-type', 'f', '-not', '-path', './DEBIAN/*', '-print0'], {
    cwd: root,
    maxBuffer: 2 ** 28,
  })
  const sums = ['--null', '--no-run-if-empty', 'md5sum', '--']
  const lines = execFileSync('xargs', sums, { cwd: root, input: files, maxBuffer: 2 ** 28 })
  return lines.toString().replaceAll('  ./', '  ')
}

/**
 * libc6 is what the bundled Node needs, libstdc++6 what the compiled TensorFlow.js binding needs.
 */
function control(compute: Compute, root: string): string {
  const kibibytes = execFileSync('du', ['-sk', '--apparent-size', root], { encoding: 'utf8' })
  const processor = compute === 'cpu' ? 'processors' : "NVIDIA's GPUs, with CUDA's libraries"
  return `Package: winnow
Version: ${versionOf(compute)}
Architecture: amd64
Maintainer: ${maintainer()}
Installed-Size: ${kibibytes.split('\t')[0]}
Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 12), systemd | systemd-standalone-sysusers
Suggests: postgresql-client
Section: sound
Priority: optional
Description: separates a sound, described in words, from audio or video
 A client submits a file and a prompt, such as "dog barking", and gets two files
 back: the sound, and the rest. One command starts gateway, engine and broker;
 under systemd several hosts share the work.
 .
 This package is for ${processor}.
 It holds Node.js and all else that runs: nothing is fetched, at its
 installation or later.
`
}
