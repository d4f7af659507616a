/**
 * Makes dist/winnow-<version>-image.tar: a minimal Debian with the package in it, as an image for
 * Docker and Podman. Debian's own tools make it, so no container engine is needed.
 */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { installationBill } from '../licences/bill-of-materials.ts'
import { readParts, type Part } from '../licences/parts.ts'
import type { Compute, Say } from './types.ts'
import { packDeb, QUICK } from './deb.ts'
import { INSTALLED, layInstallation, NODE } from './installation.ts'
import { packImage, type ImageConfig } from './oci.ts'
import { manifest, ROOT } from './sources.ts'

const SUITE = 'trixie'
/** Packages that the service needs and that mmdebstrap's variant "essential" lacks. */
const PACKAGES = 'libstdc++6,systemd-standalone-sysusers'
const DATA = '/var/lib/winnow'
/** Holds only what can be made again, such as kernels compiled for a GPU. */
const CACHE = '/var/cache/winnow'

/** @returns the path of the image, from the root of the checkout */
export async function makeImage(compute: Compute, say: Say): Promise<string> {
  const tag = compute === 'cpu' ? manifest.version : `${manifest.version}-cuda`
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  const place = mkdtempSync(join(ROOT, 'dist/image-'))
  try {
    const root = join(place, 'package')
    say('Setting the service up (some minutes) …')
    await layInstallation(join(root, INSTALLED), compute)
    const deb = packDeb(root, compute, { folder: place, compression: QUICK })
    const parts = readParts({ folder: join(root, INSTALLED), compute })
    rmSync(root, { recursive: true })
    say('Installing it into a Debian …')
    const layer = join(place, 'layer.tar')
    const packages = install(deb, layer, place)
    say('Packing …')
    const path = `dist/winnow-${tag}-image.tar`
    const image = { name: 'winnow', tag, config: configOf(compute) }
    await packImage(image, layer, join(ROOT, path))
    const bill = JSON.stringify(installationBill(parts, debianParts(packages)))
    writeFileSync(join(ROOT, path.replace(/tar$/, 'cdx.json')), `${bill}\n`)
    return path
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/**
 * Writes a root file system with the package to `layer`; returns the list of its Debian packages.
 */
function install(deb: string, layer: string, place: string): string {
  const file = basename(deb)
  const list = 'debian-packages'
  const script = join(ROOT, 'scripts/tools/package/debian-packages.sh')
  const hooks = [
    `copy-in ${deb} ${script} /tmp`,
    `chroot "$1" dpkg --force-unsafe-io --install /tmp/${file}`,
    `chroot "$1" install --directory --owner=winnow --group=winnow --mode=700 ${DATA} ${CACHE}`,
    `chroot "$1" sh /tmp/${basename(script)} >"$1/tmp/${list}"`,
    `download /tmp/${list} ${join(place, list)}`,
    'rm "$1"/tmp/*',
  ].map((hook) => `--customize-hook=${hook}`)
  const tar = `${layer}.partial`
  const words = ['--variant=essential', `--include=${PACKAGES}`, '--format=tar', ...hooks]
  execFileSync('mmdebstrap', [...words, '--quiet', SUITE, tar], { stdio: ['ignore', 2, 2] })
  renameSync(tar, layer)
  return readFileSync(join(place, list), 'utf8')
}

/** @param list output of debian-packages.sh */
export const debianParts = (list: string): Part[] =>
  list
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('winnow'))
    .map((line) => {
      const [name = '', version = '', licences = ''] = line.split('\t')
      return {
        name,
        version,
        licence: licences.split('|').join(', ') || `see /usr/share/doc/${name}/copyright`,
        url: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=amd64`,
      }
    })

/** Returns the configuration with which a container runs. */
export function configOf(compute: Compute): ImageConfig {
  const settings = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    DATA_DIR: DATA,
    WINNOW_CACHE_DIR: CACHE,
    CUDA_CACHE_PATH: join(CACHE, 'cuda'),
    HOST: '0.0.0.0',
    GRPC_HOST: '0.0.0.0',
    METRICS_HOST: '0.0.0.0',
    PUBLIC_URL: 'http://127.0.0.1:8080', // assumes `--publish 8080:8080`
    MEDIA_URL: 'http://127.0.0.1:8080', // within the container
    // NVIDIA's container toolkit reads these.
    ...(compute === 'cuda' && {
      NVIDIA_VISIBLE_DEVICES: 'all',
      NVIDIA_DRIVER_CAPABILITIES: 'compute,utility',
    }),
  }
  const isReady = "fetch('http://127.0.0.1:8080/readyz').then(({ ok }) => process.exit(ok ? 0 : 1))"
  const { description, version } = manifest
  return {
    User: 'winnow',
    Env: Object.entries(settings).map(([setting, value]) => `${setting}=${value}`),
    Entrypoint: ['/usr/bin/winnow'],
    Cmd: ['start'],
    WorkingDir: DATA,
    Volumes: { [DATA]: {}, [CACHE]: {} },
    ExposedPorts: { '8080/tcp': {}, '8081/tcp': {}, '9080/tcp': {}, '9081/tcp': {} },
    StopSignal: 'SIGTERM',
    // No label names licences: the bill of materials lists them, and most are not Winnow's.
    Labels: {
      'org.opencontainers.image.title': 'Winnow',
      'org.opencontainers.image.description': description,
      'org.opencontainers.image.version': version,
    },
    // Docker's extension of the format; times are in nanoseconds.
    Healthcheck: {
      Test: ['CMD', join(INSTALLED, NODE), '--eval', isReady],
      Interval: 30e9,
      Timeout: 10e9,
      StartPeriod: 120e9,
    },
  }
}
