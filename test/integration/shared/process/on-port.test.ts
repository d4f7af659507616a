/** When a server can't listen at an address, the error names the setting that helps. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import { startControlServer, type ControlledEngine } from '../../../../engine/control-server.ts'
import { startMetricsServer } from '../../../../shared/telemetry/metrics-server.ts'
import { serve } from '../../../support/http/serve.ts'

const source = { text: () => Promise.resolve(''), log: pino({ level: 'silent' }) }

test("errors for a port in use and for another machine's host name the setting", async (t) => {
  const { url } = await serve(t, (_request, reply) => void reply.end())
  const port = Number(new URL(url).port)
  const message = (prefix: string) =>
    `${prefix}PORT: another program listens at 127.0.0.1:${port}. ` +
    `End it, or set ${prefix}PORT to another port.`
  const portInUse = { name: 'StartError', message: message('METRICS_') }
  await assert.rejects(startMetricsServer('127.0.0.1', port, source), portInUse)
  const ofGrpc = { name: 'StartError', message: message('CONTROL_') }
  await assert.rejects(startControlServer('127.0.0.1', port, {} as ControlledEngine), ofGrpc)
  const elsewhere = { name: 'StartError', message: /^METRICS_HOST: this machine has no address/ }
  await assert.rejects(startMetricsServer('192.0.2.1', 0, source), elsewhere)
})
