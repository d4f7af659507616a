/** The whole service with its media in an S3-compatible bucket. */

import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { assertSiren, examplePath, readWav16 } from '../support/media/examples.ts'
import { readWav24 } from '../support/media/wav.ts'
import { startS3 } from '../support/http/start-s3.ts'
import { downloadResult, separateFile, startWinnow } from '../support/processes/start-winnow.ts'

/** Creates a credentials folder as systemd provides it for the `LoadCredential=` lines of the units. */
async function makeCredentials(t: TestContext, env: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'credentials-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const [name, value] of Object.entries(env)) {
    await writeFile(join(folder, `winnow_${name}`), `${value}\n`)
  }
  return folder
}

test('media goes through the bucket from upload to result, and never through the gateway', async (t) => {
  const s3 = await startS3(t)
  const winnow = await startWinnow(t, {
    env: {
      CREDENTIALS_DIRECTORY: await makeCredentials(t, s3.env), // the bucket's keys
      S3_BUCKET: s3.bucket,
      S3_ENDPOINT: s3.endpoint,
      S3_REGION: s3.region,
    },
  })
  const { submitted, last } = await separateFile(winnow, examplePath('siren-and-speech.wav'), {
    prompt: 'siren',
  })
  assert.equal(last.status, 'COMPLETED', winnow.gateway.log())
  const files = await downloadResult(winnow, submitted)
  const { target: output } = files.result.data
  assert.equal(new URL(output.url).origin, s3.endpoint)
  await assertSiren(files)
  const residual = readWav24(files.residual).planes
  const mixture = await readWav16(examplePath('siren-and-speech.wav'))
  const peaks = await winnow.client.peaks(submitted) // redirects to the bucket
  const { sample_rate: rate, samples_per_pixel: samples, length, data } = peaks.residual
  assert.ok(Math.abs((length * samples) / rate - mixture[0]!.length / 44_100) < 0.1, 'whole')
  const loudest = (planes: readonly Float32Array[]) =>
    Math.max(...planes.map((plane) => plane.reduce((most, x) => Math.max(most, Math.abs(x)), 0)))
  const drawn = Math.max(...data.map(Math.abs)) / 127
  assert.ok(Math.abs(drawn - loudest(residual)) < 0.02, `${drawn} and ${loudest(residual)}`)
  await assert.rejects(readdir(join(winnow.folder, 'media')), { code: 'ENOENT' })
  for (const program of [winnow.gateway, ...winnow.engines]) {
    assert.doesNotMatch(program.log(), /X-Amz-Signature|X-Amz-Credential/i)
  }
})
