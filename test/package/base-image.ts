/** Debian's slim Node image, or, if no registry has it, a stand-in with the same name. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { unpackNode } from '../../scripts/tools/package/node-runtime.ts'
import type { Containers } from '../support/machine/start-containers.ts'

const IMAGE = 'node:24-trixie-slim' // as in the Dockerfile
const NPM = {
  name: 'npm',
  version: '11.21.2',
  integrity:
    'sha512-7HPApk+AflMUavSseL1Pm6CnYqMIHk53x+KmuhqmTDqPkjPMgxIpT' +
    'PcTqsE91EKNw4gFBJV9fnXiSdGm1DXq9A==',
}
/** The machine's certificate authorities, which may sign the answers of its registries. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'
/** Their path in the image, where the package ca-certificates writes nothing. */
const IMAGE_CERTIFICATES = '/etc/ssl/machine.crt'
const ENVIRONMENT = ['NODE_EXTRA_CA_CERTS', 'PIP_CERT'].map(
  (name) => `ENV ${name}=${IMAGE_CERTIFICATES}`,
)

/** Loads the image into the engine. The stand-in is built from Debian's and npm's packages. */
export async function loadBaseImage(t: TestContext, docker: Containers): Promise<void> {
  const isPulled = await docker('pull', '--quiet', IMAGE).then(
    () => true,
    () => false,
  )
  if (isPulled) return
  t.diagnostic(`no registry has ${IMAGE}: a stand-in is made`)
  const folder = await mkdtemp(join(tmpdir(), 'winnow-base-image-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  installNode(join(folder, 'root'))
  const hook = `--customize-hook=sync-in ${join(folder, 'root')} /`
  const archive = join(folder, 'image.tar')
  execFileSync('mmdebstrap', ['--quiet', '--variant=minbase', hook, 'trixie', archive], {
    stdio: ['ignore', 2, 2],
  })
  const changes = [...ENVIRONMENT, 'CMD ["node"]'].map((change) => `--change=${change}`)
  await docker('import', ...changes, archive, IMAGE)
}

/** Installs Node and npm in /usr/local, as in the real image. */
function installNode(root: string): void {
  const place = join(root, 'usr/local')
  unpackNode(place)
  unpackNode(join(place, 'lib/node_modules/npm'), NPM)
  for (const [command, script] of [
    ['npm', 'npm-cli.js'],
    ['npx', 'npx-cli.js'],
  ] as const) {
    symlinkSync(`../lib/node_modules/npm/bin/${script}`, join(place, 'bin', command))
  }
  mkdirSync(join(root, 'etc/ssl'), { recursive: true })
  cpSync(CERTIFICATES, join(root, IMAGE_CERTIFICATES))
}
