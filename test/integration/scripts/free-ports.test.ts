/** Test files that run in parallel start servers on different ports. */

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { freePorts } from '../../support/processes/free-ports.ts'

test('a port is handed out once, even if nobody listens there yet', async (t) => {
  const [port] = await freePorts(1)
  const another = createServer().listen(`\0winnow-test-port-${port}`)
  t.after(() => another.close())
  const [error] = (await new Promise((resolve) => {
    another.once('error', (...got) => resolve(got))
    another.once('listening', () => resolve([]))
  })) as NodeJS.ErrnoException[]
  assert.equal(error?.code, 'EADDRINUSE')
})
