/** Starts the peer: mini in PyTorch behind LitServe (litserve_server.py). */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePorts } from '../../test/support/processes/free-ports.ts'

export interface PeerSettings {
  batch: number
  /** How long a request waits for others to batch with, in seconds. */
  batchTimeout: number
  /** Processes, each with its own network. */
  workers: number
  /** Threads of each worker. */
  threads: number
  bfloat16: boolean
}

export interface PeerServer {
  /** Address of the POST. */
  url: string
  pid: number
  /** Sends a signal to the server and its workers. */
  signal(name: NodeJS.Signals): void
  end(): Promise<void>
}

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const START_MS_MAX = 120_000

/** @param python an interpreter with the packages of requirements.txt */
export async function startPeer(python: string, settings: PeerSettings): Promise<PeerServer> {
  const [port] = await freePorts(1)
  const words = [
    ...['--port', String(port), '--weights', path('models/mini/weights')],
    ...['--encoder', path('.runtime/text-encoder'), '--batch', String(settings.batch)],
    ...['--batch-timeout', String(settings.batchTimeout)],
    ...['--workers', String(settings.workers), '--threads', String(settings.threads)],
    ...(settings.bfloat16 ? ['--bfloat16'] : []),
  ]
  const script = path('bench/peers/litserve_server.py')
  const child = spawn(python, ['-W', 'ignore', script, ...words], {
    // Keeps waiting threads from spinning, which would slow others down.
    env: {
      ...process.env,
      PYTHONPATH: path('models/training'),
      OMP_WAIT_POLICY: 'passive',
      GOMP_SPINCOUNT: '20000',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true, // gives it and its workers a process group, so that they end together
  })
  const signal = (name: NodeJS.Signals) => {
    if (child.pid !== undefined) process.kill(-child.pid, name)
  }
  const kill = () => signal('SIGKILL')
  process.once('exit', kill)
  const end = async () => {
    process.off('exit', kill)
    const ended = once(child, 'exit')
    kill()
    await ended
  }
  const deadline = performance.now() + START_MS_MAX
  while (!(await isHealthy(`http://127.0.0.1:${port}/health`))) {
    if (child.exitCode !== null) throw new Error(`the peer ended with ${child.exitCode}`)
    if (performance.now() > deadline) {
      await end()
      throw new Error('the peer did not start')
    }
    await sleep(200)
  }
  return { url: `http://127.0.0.1:${port}/predict`, pid: child.pid!, signal, end }
}

async function isHealthy(url: string): Promise<boolean> {
  const answer = await fetch(url).catch(() => null)
  await answer?.arrayBuffer()
  return answer?.ok ?? false
}
