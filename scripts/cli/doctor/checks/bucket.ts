/**
 * Checks the bucket: puts, gets and removes an object, and looks for the CORS rule that web pages
 * need.
 */

import { randomBytes } from 'node:crypto'
import type { LifecycleRule, S3Client } from '@aws-sdk/client-s3'
import type { Context } from '../context.ts'
import { failure, okFinding, unusedFinding, warning, type Finding } from '../finding.ts'
import { OWNER_KEY } from '../../../../gateway/media-store/media-store.ts'
import { compareOwner } from './installation.ts'

const TIMEOUTS = { connectionTimeout: 5_000, requestTimeout: 10_000 }

export async function checkBucket(context: Context): Promise<Finding[]> {
  const { gateway } = context
  if (!gateway) return []
  const { s3Bucket: bucket, s3Region: region, s3Endpoint: endpoint } = gateway
  if (bucket === undefined) return [unusedFinding('bucket', 'media is kept in the data folder')]
  const { S3Client } = await import('@aws-sdk/client-s3') // of 25 MB, for who uses it
  const client = new S3Client({
    region,
    ...(endpoint && { endpoint, forcePathStyle: true }),
    requestHandler: TIMEOUTS,
    maxAttempts: 2,
  })
  try {
    return [
      await roundTripFinding(client, bucket),
      await corsFinding(client, bucket),
      await versionsOf(client, bucket),
      await compareOwner(context, await ownerOf(client, bucket), `the bucket ${bucket}`),
    ]
  } catch (error) {
    const { name, message } = error as Error
    const remedy =
      'Check S3_BUCKET, S3_ENDPOINT, S3_REGION, the credentials, and that they may s3:GetObject, ' +
      's3:PutObject and s3:DeleteObject.'
    return [
      failure('bucket', `${bucket}: ${message === name ? name : `${name}: ${message}`}`, remedy),
    ]
  } finally {
    client.destroy()
  }
}

/** The installation whose mark the bucket has. */
async function ownerOf(client: S3Client, bucket: string): Promise<string | undefined> {
  const { GetObjectCommand, NoSuchKey } = await import('@aws-sdk/client-s3')
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: OWNER_KEY }))
    return (await Body?.transformToString())?.trim()
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined
    throw error
  }
}

async function roundTripFinding(client: S3Client, bucket: string): Promise<Finding> {
  const { PutObjectCommand, GetObjectCommand, DeleteObjectCommand } =
    await import('@aws-sdk/client-s3')
  const object = { Bucket: bucket, Key: `incoming/doctor-${randomBytes(8).toString('hex')}` }
  const text = randomBytes(16).toString('hex')
  const startedAt = performance.now()
  await client.send(new PutObjectCommand({ ...object, Body: text }))
  try {
    const { Body } = await client.send(new GetObjectCommand(object))
    const got = await Body?.transformToString()
    if (got !== text) {
      return failure(
        'bucket',
        `${bucket} answers another object than was put`,
        'Use another store.',
      )
    }
  } finally {
    await client.send(new DeleteObjectCommand(object))
  }
  const ms = Math.round(performance.now() - startedAt)
  return okFinding('bucket', `${bucket}: an object is put, got and removed in ${ms} ms`)
}

async function corsFinding(client: S3Client, bucket: string): Promise<Finding> {
  const { GetBucketCorsCommand } = await import('@aws-sdk/client-s3')
  const rules = await client.send(new GetBucketCorsCommand({ Bucket: bucket })).then(
    ({ CORSRules = [] }) => CORSRules,
    (error: Error) => error,
  )
  if (Array.isArray(rules) && rules.length > 0)
    return okFinding('bucket cors', `${rules.length} rules`)
  const reason = Array.isArray(rules) ? 'NoSuchCORSConfiguration' : rules.name
  const remedy = 'Only uploads and players in web pages need a rule: docs/how-to/bucket.md.'
  return warning('bucket cors', `no rule for web pages (${reason})`, remedy)
}

async function versionsOf(client: S3Client, bucket: string): Promise<Finding> {
  const { GetBucketLifecycleConfigurationCommand, GetBucketVersioningCommand } =
    await import('@aws-sdk/client-s3')
  const of = { Bucket: bucket }
  try {
    const { Status } = await client.send(new GetBucketVersioningCommand(of))
    if (Status === undefined) return versionsFinding(undefined, [])
    const rules = await client.send(new GetBucketLifecycleConfigurationCommand(of)).then(
      ({ Rules = [] }) => Rules,
      () => [], // none, or it may not be read
    )
    return versionsFinding(Status, rules)
  } catch (error) {
    const { name } = error as Error
    const remedy = 'Check by hand that it keeps no versions, or grant s3:GetBucketVersioning.'
    return warning('bucket versions', `whether it keeps versions is unknown (${name})`, remedy)
  }
}

type ExpiryRule = Pick<LifecycleRule, 'Status' | 'NoncurrentVersionExpiration'>

/** @param status `Enabled` or `Suspended`; absent if versioning was never on */
export function versionsFinding(status: string | undefined, rules: readonly ExpiryRule[]): Finding {
  if (status === undefined) return okFinding('bucket versions', 'none are kept')
  const days = rules
    .filter((rule) => rule.Status === 'Enabled')
    .flatMap((rule) => rule.NoncurrentVersionExpiration?.NoncurrentDays ?? [])
  if (days.length > 0) {
    return okFinding('bucket versions', `what is deleted stays for ${Math.min(...days)} more days`)
  }
  return warning(
    'bucket versions',
    `versions are ${status.toLowerCase()}: the bucket keeps what retention and clients delete`,
    'Give it a lifecycle rule that expires noncurrent versions: docs/how-to/bucket.md.',
  )
}
