import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { readContext } from '../../../../scripts/cli/doctor/context.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'

test('doctor uses the settings and secrets of the services, where install-host puts them', async (t) => {
  const installed = temporaryFolder(t)
  const gateway = join(installed, 'credentials/gateway')
  await mkdir(gateway, { recursive: true })
  await writeFile(join(installed, 'winnow.env'), 'S3_BUCKET=media\nPORT=81\nAWS_REGION=here\n')
  await writeFile(join(gateway, 'NATS_URL'), 'nats://a-token@broker:4222\n')
  await writeFile(join(gateway, 'AWS_ACCESS_KEY_ID'), 'an-id\n')
  await writeFile(join(gateway, 'signing-key'), 'no setting\n')

  const options = { role: undefined, egressUrl: 'https://example.com/', installed }
  const { env, gateway: config, engine, natsUrl } = readContext({ PORT: '82' }, options)
  assert.deepEqual(env, {
    DATA_DIR: '/var/lib/winnow',
    S3_BUCKET: 'media',
    PORT: '82', // explicit settings win
    AWS_REGION: 'here',
    NATS_URL: 'nats://a-token@broker:4222',
    AWS_ACCESS_KEY_ID: 'an-id',
  })
  assert.equal(config?.s3Bucket, 'media')
  assert.equal(engine, undefined, 'there are no credentials of an engine: a gateway alone')
  assert.equal(natsUrl, 'nats://a-token@broker:4222')
})
