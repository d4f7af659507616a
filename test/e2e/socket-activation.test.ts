/**
 * A gateway on sockets that its service manager holds: clients that connect during a restart wait,
 * and none is refused.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { separationClient } from '../support/clients/separation-client.ts'
import { startNatsServer } from '../../scripts/cli/start/nats-server.ts'
import { API_KEY } from '../support/processes/start-winnow.ts'

const HOLDER = fileURLToPath(new URL('../support/processes/hold_sockets.py', import.meta.url))
const ADMIN_TOKEN = 'the-admin-token-of-this-test'
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

interface LogLine {
  pid: number
  msg: string
  address?: string
  grpc?: string
  admin?: string
}

/** A gateway that comes back whenever it ends, on the same sockets. */
async function startHeld(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-test-'))
  const nats = await startNatsServer({ folder: join(folder, 'nats') })
  const words = [HOLDER, 'http:grpc:admin', process.execPath, 'scripts/run.mjs', 'gateway/main.ts']
  const env = {
    ...process.env,
    NATS_URL: nats.url,
    DATA_DIR: folder,
    PORT: '1', // not used: the sockets are open already
    GRPC_PORT: '1',
    METRICS_PORT: 'off',
    BOOTSTRAP_API_KEY: API_KEY,
    ADMIN_TOKEN,
  }
  const holder = spawn('python3', words, { cwd: ROOT, env, stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(async () => {
    const ended = new Promise((resolve) => holder.once('exit', resolve))
    holder.stdin.end()
    await ended
    nats.process.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const lines = createInterface(holder.stdout)[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value as string) as object
  const ports = (await next()) as { http: number; grpc: number; admin: number }
  const ready = async () => {
    for (;;) {
      const line = (await next()) as LogLine
      if (line.msg === 'is ready') return line
    }
  }
  return { ports, ready }
}

/** Calls List over a connection of its own; resolves with 200 as HTTP has it. */
async function listSeparations(address: string): Promise<number> {
  const client = separationClient(address, API_KEY)
  return client
    .call('List', {})
    .then(() => 200)
    .finally(() => client.close())
}

test('a restart of the gateway refuses no connection, over HTTP and gRPC, nor of an admin', async (t) => {
  const { ports, ready } = await startHeld(t)
  const url = `http://127.0.0.1:${ports.http}`
  const first = await ready()
  assert.equal(first.address, url)
  assert.equal(first.grpc, `127.0.0.1:${ports.grpc}`)
  assert.equal(first.admin, `http://127.0.0.1:${ports.admin}`)
  const askAt = async (address: string, token: string) => {
    // a connection each, as of a client that has not come before
    const headers = { authorization: `Bearer ${token}`, connection: 'close' }
    const response = await fetch(address, { headers })
    await response.text()
    return response.status
  }
  const ask = () => askAt(`${url}/v1/models`, API_KEY)
  const askAdmin = () => askAt(`${first.admin}/admin/accounts`, ADMIN_TOKEN)
  const list = () => listSeparations(`127.0.0.1:${ports.grpc}`)
  assert.equal(await ask(), 200)
  assert.equal(await askAdmin(), 200)
  await list()
  process.kill(first.pid, 'SIGTERM')
  const asked: Promise<unknown>[] = []
  const asking = setInterval(() => asked.push(ask(), askAdmin(), list()), 50)
  const again = await ready()
  clearInterval(asking)
  asked.push(ask())
  assert.notEqual(again.pid, first.pid)
  assert.ok(asked.length > 5, `${asked.length} calls`)
  for (const status of await Promise.all(asked)) assert.equal(status, 200)
})
