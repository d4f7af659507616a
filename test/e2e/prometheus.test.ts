/** Loads the files of ops/ with a running Winnow: every panel and alert queries metrics that exist. */

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildFakeNvml } from '../support/machine/fake-nvml.ts'
import { noise } from '../support/media/signals.ts'
import { wavBytes } from '../support/media/wav.ts'
import { promtool, startPrometheus, type Prometheus } from '../support/machine/prometheus.ts'
import { separateFile, startWinnow } from '../support/processes/start-winnow.ts'
import { startReceiver } from '../support/http/webhook-receiver.ts'

const SERIES_MS_MAX = 60_000
/** What the test's own work comes to. */
const COUNTS = [
  'winnow_engine_info{model="mini",device="cpu"} == 1',
  'winnow_engine_failures_total{code="INVALID_MEDIA"} == 1',
  'winnow_engine_audio_seconds_total == 3',
  'winnow_job_run_seconds_count{outcome="completed"} == 1',
  'winnow_job_end_to_end_seconds_count{outcome="failed"} == 1',
  'winnow_webhook_tries_total{state="delivered"} == 1',
  'winnow_gpu_power_watts{gpu="GPU-aaaa1111-0000"} == 412.5',
  'winnow_gpu_xid_errors_total{gpu="GPU-bbbb2222-0000",xid="79"} == 1',
]

/** Returns the dashboard's expressions by panel, over a range long enough for this test. */
async function dashboardQueries(): Promise<Map<string, string>> {
  const { panels } = JSON.parse(await readFile('ops/grafana-dashboard.json', 'utf8')) as {
    panels: { title: string; targets?: { refId: string; expr: string }[] }[]
  }
  const queries = panels.flatMap(({ title, targets = [] }) =>
    targets.map(
      ({ refId, expr }) =>
        [`panel ${title}, ${refId}`, expr.replaceAll('$__rate_interval', '1h')] as const,
    ),
  )
  return new Map(queries)
}

/** Returns the queries whose values the alerts compare with thresholds. */
async function alertQueries({ ask }: Prometheus): Promise<Map<string, string>> {
  type Rules = { groups: { rules: { name: string; query: string; health: string }[] }[] }
  const { groups } = await ask<Rules>('rules')
  const rules = groups.flatMap((group) => group.rules)
  for (const { name, health } of rules) assert.notEqual(health, 'err', name)
  return new Map(
    rules.map(({ name, query }) => {
      const [, compared] = /^([^]*) (?:==|<|>) [\d.]+$/.exec(query) ?? assert.fail(query)
      return [`alert ${name}`, compared!]
    }),
  )
}

/** Returns whether an expression gives a series with a number; a rate of nothing gives none. */
async function givesSeries({ ask }: Prometheus, expr: string): Promise<boolean> {
  type Vector = { result: { value: [time: number, value: string] }[] }
  const { result } = await ask<Vector>(`query?query=${encodeURIComponent(expr)}`)
  return result.some(({ value: [, value] }) => Number.isFinite(Number(value)))
}

test('every panel and alert finds its series on a running Winnow', async (t) => {
  const receiver = await startReceiver(t)
  receiver.answerAll(200)
  const { folder: nvmlFolder } = await buildFakeNvml(t)
  const winnow = await startWinnow(t, { engines: 0, env: { EGRESS_ALLOW_CIDRS: '127.0.0.1/32' } })
  const engines = await Promise.all(
    ['0', '1'].map((gpu) =>
      winnow.startEngine({ LD_LIBRARY_PATH: nvmlFolder, CUDA_VISIBLE_DEVICES: gpu }),
    ),
  )
  const target = (address = '') => new URL(address).host
  const prometheus = await startPrometheus(t, {
    gateway: target(winnow.gateway.ready.metrics),
    engines: engines.map(({ ready }) => target(ready.metrics)),
  })
  const isScraped = 'min(winnow_engines) > 0 and on() count(up == 1) == 3'
  while (!(await givesSeries(prometheus, isScraped))) await sleep(100)

  const [good, bad] = [join(winnow.folder, 'noise.wav'), join(winnow.folder, 'bad.wav')]
  await writeFile(good, wavBytes([noise(3, 8_000)], 8_000))
  await writeFile(bad, 'this is no sound')
  const fileId = await winnow.client.upload(good, 'audio/wav')
  const input = { prompt: 'noise', file_id: fileId }
  await winnow.client.wait(await winnow.client.submit({ input, webhookUrl: receiver.url }))
  assert.equal((await separateFile(winnow, bad, { prompt: 'noise' })).last.status, 'FAILED')
  await receiver.next()

  const counts = COUNTS.map((expr) => [expr, expr] as const)
  const shown = [...(await dashboardQueries()), ...(await alertQueries(prometheus))]
  const waiting = new Map([...shown, ...counts])
  assert.ok(waiting.size > 50, `${waiting.size} expressions`)
  const deadline = Date.now() + SERIES_MS_MAX
  while (waiting.size > 0 && Date.now() < deadline) {
    for (const [what, expr] of waiting) {
      if (await givesSeries(prometheus, expr)) waiting.delete(what)
    }
    await sleep(250)
  }
  assert.deepEqual(Object.fromEntries(waiting), {}, 'these have no series')
  assert.equal(await givesSeries(prometheus, 'winnow_requests_of_no_kind'), false)
})

test('the alerts are valid, and fire when they should', async () => {
  await promtool('check', 'config', 'ops/prometheus.yml')
  await promtool('check', 'rules', 'ops/alerts.yml')
  await promtool('test', 'rules', 'test/ops/alerts.test.yml')
})
