import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/**
 * Linux takes the local port of an outgoing connection from 32768 on: a port below it stays free
 * while the server that listens there is started again.
 */
const RANGE = [20_000, 32_768] as const

/**
 * Ports that were free a moment ago. No outgoing connection takes them meanwhile, and no other
 * caller gets them while this process lives.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(...RANGE)
    if ((await claim(port)) && (await isFree(port))) ports.add(port)
  }
  return [...ports]
}

/** False where a test that runs now has the port: its socket of that name ends with its process. */
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

/** False where the address is taken. */
async function isListening(server: Server): Promise<boolean> {
  try {
    await once(server, 'listening')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
}
