/**
 * A gateway on sockets that its service manager holds open: clients that connect during a restart wait,
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
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

interface LogLine {
  pid: number
  msg: string
  address?: string
  grpc?: string
}

/** Starts a gateway that restarts whenever it ends, on the same sockets. */
async function startOnHeldSockets(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-test-'))
  const nats = await startNatsServer({ folder: join(folder, 'nats') })
  const words = [HOLDER, 'http:grpc', process.execPath, 'scripts/run.mjs', 'gateway/main.ts']
  const env = {
    ...process.env,
    NATS_URL: nats.url,
    DATA_DIR: folder,
    PORT: '1', // unused, because the sockets are already open
    GRPC_PORT: '1',
    METRICS_PORT: 'off',
    BOOTSTRAP_API_KEY: API_KEY,
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
  const ports = (await next()) as { http: number; grpc: number }
  const ready = async () => {
    for (;;) {
      const line = (await next()) as LogLine
      if (line.msg === 'is ready') return line
    }
  }
  return { ports, ready }
}

/** Calls List on its own connection; resolves with 200, as over HTTP. */
async function listSeparations(address: string): Promise<number> {
  const client = separationClient(address, API_KEY)
  return client
    .call('List', {})
    .then(() => 200)
    .finally(() => client.close())
}

test('a restart of the gateway refuses no connection, over HTTP and gRPC', async (t) => {
  const { ports, ready } = await startOnHeldSockets(t)
  const url = `http://127.0.0.1:${ports.http}`
  const first = await ready()
  assert.equal(first.address, url)
  assert.equal(first.grpc, `127.0.0.1:${ports.grpc}`)
  const ask = async () => {
    // Opens a new connection each time, like a new client.
    const headers = { authorization: `Bearer ${API_KEY}`, connection: 'close' }
    const answer = await fetch(`${url}/v1/models`, { headers })
    await answer.text()
    return answer.status
  }
  const list = () => listSeparations(`127.0.0.1:${ports.grpc}`)
  assert.equal(await ask(), 200)
  await list()
  process.kill(first.pid, 'SIGTERM')
  const calls: Promise<unknown>[] = []
  const timer = setInterval(() => calls.push(ask(), list()), 50)
  const again = await ready()
  clearInterval(timer)
  calls.push(ask())
  assert.notEqual(again.pid, first.pid)
  assert.ok(calls.length > 5, `${calls.length} calls`)
  for (const status of await Promise.all(calls)) assert.equal(status, 200)
})
