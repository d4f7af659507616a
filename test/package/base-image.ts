/** Debian's slim Node image, or where no registry has it, one in its place with the same name. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { unpackNode } from '../../scripts/tools/package/node-runtime.ts'
import type { Containers } from '../support/machine/start-containers.ts'

const IMAGE = 'node:24-trixie-slim' // as the Dockerfile names it
const NPM = {
  name: 'npm',
  version: '11.21.2',
  integrity:
    'sha512-7HPApk+AflMUavSseL1Pm6CnYqMIHk53x+KmuhqmTDqPkjPMgxIpT' +
    'PcTqsE91EKNw4gFBJV9fnXiSdGm1DXq9A==',
}
/** The machine's authorities, which may sign what its registries answer. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'
/** Their place in the image, where the package ca-certificates writes none of its own. */
const PLACE = '/etc/ssl/machine.crt'
const ENVIRONMENT = ['NODE_EXTRA_CA_CERTS', 'PIP_CERT'].map((name) => `ENV ${name}=${PLACE}`)

/** Leaves the image in the engine's store. The stand-in is made of Debian's and npm's packages. */
export async function loadBaseImage(t: TestContext, docker: Containers): Promise<void> {
  const isPulled = await docker('pull', '--quiet', IMAGE).then(
    () => true,
    () => false,
  )
  if (isPulled) return
  t.diagnostic(`no registry has ${IMAGE}: a stand-in is made`)
  const folder = await mkdtemp(join(tmpdir(), 'winnow-base-image-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  layNode(join(folder, 'root'))
  const hook = `--customize-hook=sync-in ${join(folder, 'root')} /`
  const archive = join(folder, 'image.tar')
  execFileSync('mmdebstrap', ['--quiet', '--variant=minbase', hook, 'trixie', archive], {
    stdio: ['ignore', 2, 2],
  })
  const changes = [...ENVIRONMENT, 'CMD ["node"]'].map((change) => `--change=${change}`)
  await docker('import', ...changes, archive, IMAGE)
}

/** As the image has them: in /usr/local, with npm. */
function layNode(root: string): void {
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
  cpSync(CERTIFICATES, join(root, PLACE))
}
