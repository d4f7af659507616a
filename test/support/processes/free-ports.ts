import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/**
 * Linux assigns local ports from 32768 up to outgoing connections, so a lower port stays free while
 * the server that listens on it restarts.
 */
const RANGE = [20_000, 32_768] as const

/**
 * Returns free ports. No outgoing connection can take them, and no other caller gets them while
 * this process lives.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(...RANGE)
    if ((await claim(port)) && (await isFree(port))) ports.add(port)
  }
  return [...ports]
}

/**
 * Returns false if another running test has claimed the port. The claim is a socket of that name,
 * which closes when its process ends.
 */
async function claim(port: number): Promise<boolean> {
  const server = createServer().listen(`\0winnow-test-port-${port}`)
  server.unref()
  return isListening(server)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  if (!(await isListening(server))) return false
  server.close()
  await once(server, 'close')
  return true
}

/** Resolves with false if the address is in use. */
async function isListening(server: Server): Promise<boolean> {
  try {
    await once(server, 'listening')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
}
