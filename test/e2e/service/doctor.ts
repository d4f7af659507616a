/** Runs `npm run doctor` on a running service, and on broken ones. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { appendFile, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import test, { before, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SqliteDatabase } from '../../../gateway/store/driver/sqlite.ts'
import { fileFinding, MINI_SHA256 } from '../../../scripts/cli/doctor/checks/weights.ts'
import { doctor } from '../../../scripts/cli/doctor/command.ts'
import type { Finding } from '../../../scripts/cli/doctor/finding.ts'
import { runCommand } from '../../support/processes/run-command.ts'
import { serve } from '../../support/http/serve.ts'
import { startS3 } from '../../support/http/start-s3.ts'
import { started, winnow } from './winnow.ts'

type Environment = Readonly<Record<string, string>>

async function examine(words: readonly string[], env: Environment) {
  const { code, text } = await runCommand(doctor, [...words, '--json'], { env })
  return { code, ...reported(JSON.parse(text) as Report) }
}

interface Report {
  findings: Finding[]
}

function reported({ findings }: Report) {
  const finding = (name: string) => {
    const [first] = findings.filter((each) => each.name === name)
    assert.ok(first, `${name} is not in ${JSON.stringify(findings)}`)
    return first
  }
  return { findings, finding }
}

/** Runs doctor in its own process, because Amazon's SDK reads its keys from the environment. */
async function examineInNewProcess(words: readonly string[], env: Environment) {
  const child = spawn(
    process.execPath,
    ['scripts/run.mjs', 'scripts/cli/main.ts', 'doctor', ...words, '--json'],
    { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  return reported((await json(child.stdout)) as Report)
}

/** The address of a server that stands in for the internet. */
let outside: string
let env: Environment
before(async (t) => {
  await started
  outside = (await serve(t as TestContext, (_request, reply) => void reply.end())).url
  env = {
    NATS_URL: winnow.nats.url,
    DATA_DIR: winnow.folder,
    SCRATCH_DIR: join(winnow.folder, 'scratch'),
    PORT: new URL(winnow.url).port,
    GRPC_PORT: 'off',
    METRICS_PORT: 'off',
  }
})

/** These judge the machine, which the tests may keep so busy that doctor rightly warns. */
const OF_THE_MACHINE = ['data disk', 'scratch disk', 'memory']

test('nothing is missing on a running service', async () => {
  const { code, findings, finding } = await examine(['--egress', outside], env)
  const problems = findings.filter(({ severity }) => !['fine', 'unused'].includes(severity))
  assert.deepEqual(
    problems.filter(({ name }) => !OF_THE_MACHINE.includes(name)),
    [],
  )
  assert.equal(code === 0, problems.length === 0)
  assert.match(finding('broker').found, /^nats-server \d+\.\d+.* answers$/)
  assert.match(finding('streams').found, /JOBS.*replicas: 1$/)
  assert.match(finding('clock').found, /that of this host is that of the broker/)
  assert.match(finding('gateway').found, /ready, engines: 1/)
  assert.match(finding('database').found, /takes writes, schema \d+/)
  assert.match(finding('data disk').found, /free, fsync in [\d.]+ ms/)
  assert.match(finding('separation').found, /mini separated one second correctly/)
  const compared = findings.filter(({ name }) => name === 'installation')
  assert.deepEqual(
    compared.map(({ severity, found }) => [severity, /the (media|broker)/.exec(found)?.[1]]).sort(),
    [
      ['fine', 'broker'],
      ['fine', 'media'],
    ],
  )
})

test('the problems of a gateway are shown in its own words', async (t) => {
  const problems = ['The disk of DATA_DIR is nearly full.', 'The broker is away.']
  const readiness = { status: 'unavailable', database: true, broker: false, engines: 1, problems }
  const { url } = await serve(t, (_request, reply) => void reply.end(JSON.stringify(readiness)))
  const words = ['--role', 'gateway', '--egress', outside]
  const { finding } = await examine(words, { ...env, PORT: new URL(url).port })
  assert.equal(
    finding('gateway').found,
    `at ${url}: unavailable, engines: 1. The disk of DATA_DIR is nearly full. The broker is away.`,
  )
})

test('for people the output is a table', async () => {
  const words = ['--role', 'gateway', '--egress', outside]
  const { text } = await runCommand(doctor, words, { env })
  assert.match(text, /^ok {4}node +Node \d+/)
  assert.match(text, /^ok {4}broker +nats-server /m)
  assert.doesNotMatch(text, new RegExp(new URL(winnow.nats.url).username))
})

test('whatever is broken fails, and says what would help', async () => {
  const broken = {
    ...env,
    NATS_URL: 'nats://a-secret@127.0.0.1:1',
    DATA_DIR: '/sys',
    PORT: new URL(outside).port,
  }
  const words = ['--role', 'gateway', '--egress', 'http://127.0.0.1:9/']
  const { code, finding, findings } = await examine(words, broken)
  assert.equal(code, 2)
  assert.match(finding('broker').found, /no broker answers at 127\.0\.0\.1:1/)
  assert.match(finding('data disk').found, /^\/sys is not writable: EACCES|EPERM|EROFS/)
  assert.match(finding('port http').found, /another program listens/)
  assert.equal(finding('egress').severity, 'warning')
  assert.doesNotMatch(JSON.stringify(findings), /a-secret/)
  for (const { severity, remedy } of findings)
    assert.equal(['warning', 'failure'].includes(severity), Boolean(remedy))
})

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-doctor-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('an engine without its model fails', async (t) => {
  const folder = await makeFolder(t)
  const { code, finding } = await examine(['--role', 'engine', '--egress', outside], {
    ...env,
    MODEL: `sam-audio:${folder}`,
  })
  assert.equal(code, 2)
  assert.equal(finding('weights').severity, 'failure')
  assert.match(finding('separation').found, new RegExp(folder))
})

test('weights of another version fail', async (t) => {
  const file = join(await makeFolder(t), 'model.safetensors')
  await copyFile(
    fileURLToPath(new URL('../../../models/mini/weights/model.safetensors', import.meta.url)),
    file,
  )
  assert.equal((await fileFinding(file, MINI_SHA256)).severity, 'fine')
  await appendFile(file, ' ')
  assert.match((await fileFinding(file, MINI_SHA256)).found, /has SHA-256 \w+…, not c?\w+…/)
})

test('each invalid setting is named', async () => {
  const { code, findings } = await examine(['--egress', outside], {
    ...env,
    PORT: 'http',
    JOBS_MAX: '0',
  })
  assert.equal(code, 2)
  const problems = findings.filter(({ name }) => name === 'settings').map(({ found }) => found)
  assert.equal(problems.length, 2)
  assert.match(problems.join('\n'), /PORT must be a whole number/)
  assert.match(problems.join('\n'), /JOBS_MAX must be auto or a whole number/)
})

test('a database of a newer version fails, and a file that is none is not compared with anything', async (t) => {
  const folder = await makeFolder(t)
  const path = join(folder, 'winnow.db')
  const database = new SqliteDatabase(path)
  database.exec(
    "create table kysely_migration (name text); insert into kysely_migration values ('999-later')",
  )
  database.close()
  const words = ['--role', 'gateway', '--egress', outside]
  const newer = await examine(words, { ...env, DATA_DIR: folder })
  assert.match(
    newer.finding('database').found,
    /has a newer schema than this version \(999-later\)/,
  )

  await writeFile(path, 'no database at all, but as long as a header of one would be'.repeat(20))
  const { finding, findings } = await examine(words, { ...env, DATA_DIR: folder })
  const { severity, found, remedy } = finding('database')
  assert.equal(severity, 'failure')
  assert.match(found, /not a database/)
  assert.match(remedy ?? '', /backup/)
  const compared = findings.filter(({ name }) => name === 'installation')
  assert.ok(compared.length > 0)
  for (const { severity, found } of compared) {
    assert.equal(severity, 'unused')
    assert.match(found, /not compared, the database cannot be read/)
  }
})

test('a bucket is tested, and fails without its credentials', async (t) => {
  const s3 = await startS3(t)
  const words = ['--role', 'gateway', '--egress', outside]
  const bucket = { ...env, S3_BUCKET: s3.bucket, S3_ENDPOINT: s3.endpoint, S3_REGION: s3.region }
  const good = await examineInNewProcess(words, { ...bucket, ...s3.env })
  assert.match(good.finding('bucket').found, /an object is put, got and removed in \d+ ms/)
  assert.match(good.finding('bucket cors').found, /no rule for web pages/)
  const bad = await examineInNewProcess(words, {
    ...bucket,
    AWS_ACCESS_KEY_ID: 'nobody',
    AWS_SECRET_ACCESS_KEY: 'nothing',
  })
  assert.equal(bad.finding('bucket').severity, 'failure')
  assert.match(bad.finding('bucket').remedy ?? '', /S3_BUCKET/)
})

test('a wrong command line is refused with what would be right', async () => {
  const { code, errors } = await runCommand(doctor, ['--role', 'broker'], { env })
  assert.equal(code, 64)
  assert.match(errors, /--role takes gateway, engine or all, not "broker"/)
})
