/**
 * Writes the archive of an image, which is both an OCI image layout and readable by `docker load`.
 */

import { execFileSync } from 'node:child_process'
import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** `config` of the OCI's image specification, with Docker's `Healthcheck`. */
export type ImageConfig = Readonly<Record<string, unknown>>

interface Image {
  name: string
  tag: string
  config: ImageConfig
}

interface Blob {
  digest: string
  size: number
}

const OCI = 'application/vnd.oci.image'

/**
 * @param layer a tar of the root file system
 * @param path of the archive, which is overwritten
 */
export async function packImage(image: Image, layer: string, path: string): Promise<void> {
  const folder = `${path}.new`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'blobs/sha256'), { recursive: true })
  const { contents, ...packed } = await packLayer(layer, folder)
  const config = writeBlob(folder, {
    architecture: 'amd64',
    os: 'linux',
    config: image.config,
    rootfs: { type: 'layers', diff_ids: [contents] },
    history: [{ created_by: 'npm run winnow -- package image' }],
  })
  const manifest = writeBlob(folder, {
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config: { mediaType: `${OCI}.config.v1+json`, ...config },
    layers: [{ mediaType: `${OCI}.layer.v1.tar+gzip`, ...packed }],
  })
  const annotations = {
    'io.containerd.image.name': `docker.io/library/${image.name}:${image.tag}`,
    'org.opencontainers.image.ref.name': image.tag,
  }
  const manifests = [{ mediaType: `${OCI}.manifest.v1+json`, ...manifest, annotations }]
  writeJson(join(folder, 'index.json'), { schemaVersion: 2, manifests })
  writeJson(join(folder, 'oci-layout'), { imageLayoutVersion: '1.0.0' })
  const [Config, Layers] = [blobPath(config), [blobPath(packed)]]
  const RepoTags = [`${image.name}:${image.tag}`]
  writeJson(join(folder, 'manifest.json'), [{ Config, RepoTags, Layers }]) // docker load's
  const entries = ['oci-layout', 'index.json', 'manifest.json', 'blobs']
  execFileSync('tar', ['--create', '--file', path, '--directory', folder, ...entries])
  rmSync(folder, { recursive: true })
}

const blobPath = ({ digest }: Blob): string => `blobs/${digest.replace(':', '/')}`

/** Compresses the layer into a blob; `contents` is the digest of the uncompressed tar. */
async function packLayer(layer: string, folder: string): Promise<Blob & { contents: string }> {
  const [plain, packed] = [createHash('sha256'), createHash('sha256')]
  const fresh = join(folder, 'layer')
  await pipeline(
    createReadStream(layer),
    hashing(plain),
    createGzip(),
    hashing(packed),
    createWriteStream(fresh),
  )
  const blob = { digest: digestOf(packed), size: statSync(fresh).size }
  renameSync(fresh, join(folder, blobPath(blob)))
  return { ...blob, contents: digestOf(plain) }
}

/** Passes bytes through unchanged, and updates the hash with them. */
const hashing = (hash: Hash): Transform =>
  new Transform({
    transform(bytes: Buffer, _encoding, done) {
      hash.update(bytes)
      done(null, bytes)
    },
  })

const digestOf = (hash: Hash): string => `sha256:${hash.digest('hex')}`

function writeBlob(folder: string, content: object): Blob {
  const text = JSON.stringify(content)
  const blob = {
    digest: digestOf(createHash('sha256').update(text)),
    size: Buffer.byteLength(text),
  }
  writeFileSync(join(folder, blobPath(blob)), text)
  return blob
}

const writeJson = (path: string, content: object): void =>
  writeFileSync(path, JSON.stringify(content))
