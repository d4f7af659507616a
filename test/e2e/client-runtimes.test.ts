/** The TypeScript client's package in Deno and Bun, against the real service. */

import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { buildClient, runFile } from '../support/clients/client-package.ts'
import { npmPackages } from '../support/packages/npm-packages.ts'
import { noise } from '../support/media/signals.ts'
import { API_KEY, startWinnow } from '../support/processes/start-winnow.ts'
import { wavBytes } from '../support/media/wav.ts'

const VERSIONS = { bun: '1.4.5', deno: '2.9.6' }
const SECONDS = 2
const SAMPLE_RATE = 16_000

/** Uploads, submits, follows and downloads; then makes a request that is refused. */
const program = (media: Buffer) => `
import { ApiError, createClient } from 'winnow-client'
const [baseUrl, apiKey] = globalThis.Deno?.args ?? process.argv.slice(2)
const client = createClient({ baseUrl, apiKey })
const media = await fetch('data:audio/wav;base64,${media.toString('base64')}')
const bytes = await media.blob()
let sent = 0
const file = { name: 'sound.wav', contentType: 'audio/wav', bytes }
const fileId = await client.uploadBlob(file, (part) => (sent = part))
const input = { file_id: fileId, prompt: 'rain' }
const request = await client.submit({ input })
const statuses = []
for await (const { status } of client.follow(request)) statuses.push(status)
const { data } = await client.wait(request)
const target = await (await client.open(data.target.url)).arrayBuffer()
const refusal = await client.submit({ input: { ...input, prompt: '' } }).catch((error) => error)
console.log(JSON.stringify({
  runtime: globalThis.Deno ? 'deno' : globalThis.Bun ? 'bun' : 'node',
  sent,
  last: statuses.at(-1),
  targetBytes: target.byteLength,
  refusedAs: refusal instanceof ApiError && refusal.status,
}))
`

test('client package: it uploads, follows and downloads in Bun and Deno', async (t) => {
  const folder = await buildClient(t)
  const consumer = join(folder, 'consumer')
  await mkdir(join(consumer, 'node_modules'), { recursive: true })
  await symlink(folder, join(consumer, 'node_modules', 'winnow-client'))
  await writeFile(join(consumer, 'package.json'), '{"type": "module"}')
  const media = wavBytes([noise(SECONDS, SAMPLE_RATE)], SAMPLE_RATE)
  await writeFile(join(consumer, 'program.js'), program(media))
  const packages = await npmPackages(
    'client-runtimes',
    `@oven/bun-linux-x64-baseline@${VERSIONS.bun}`,
    `@deno/linux-x64-glibc@${VERSIONS.deno}`,
  )
  const winnow = await startWinnow(t)
  const programs = {
    bun: [join(packages, '@oven/bun-linux-x64-baseline/bin/bun'), 'program.js'],
    deno: [join(packages, '@deno/linux-x64-glibc/deno'), 'run', '--allow-net', 'program.js'],
  }
  for (const [runtime, [file, ...words]] of Object.entries(programs)) {
    await t.test(runtime, async () => {
      const run = await runFile(file!, [...words, winnow.url, API_KEY], { cwd: consumer })
      const { targetBytes, ...rest } = JSON.parse(run.stdout)
      assert.deepEqual(rest, { runtime, sent: 1, last: 'COMPLETED', refusedAs: 400 })
      assert.ok(targetBytes > 3 * SECONDS * SAMPLE_RATE, `${targetBytes} bytes`)
    })
  }
})
