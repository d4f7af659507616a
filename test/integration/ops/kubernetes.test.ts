/** ops/helm/winnow: rendered by Helm, validated by Kubernetes' schemas, and run as it specifies. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createClient } from '../../../clients/typescript/node.ts'
import { startNatsServer } from '../../../scripts/cli/start/nats-server.ts'
import { JOB_QUEUES } from '../../../shared/broker/streams.ts'
import { temporaryFolder } from '../../support/basics/temporary-folder.ts'
import { createDatabase } from '../../support/database/start-postgres.ts'
import { healthOf } from '../../support/engine/health.ts'
import { promtool } from '../../support/machine/prometheus.ts'
import { assertSiren, examplePath } from '../../support/media/examples.ts'
import { helm, objectsIn, validate, type KubernetesObject } from '../../support/packages/helm.ts'
import { freePorts } from '../../support/processes/free-ports.ts'
import { launchProgram } from '../../support/processes/start-program.ts'
import { API_KEY, downloadResult, separateFile } from '../../support/processes/start-winnow.ts'

const CHART = 'ops/helm/winnow'
const NEEDED = { publicUrl: 'https://winnow.example.com', media: { bucket: 'media' } }
const EVERYTHING = {
  publicUrl: 'https://winnow.example.com',
  media: { claim: 'media' },
  image: { pullSecrets: [{ name: 'registry' }] },
  settings: { LEASE_SECONDS: 20, QUEUE_MAX: 1_000_000 },
  gateway: {
    serviceAccount: 'bucket-user',
    settings: { TRUSTED_PROXIES: '10.0.0.0/8', ADMIN_PORT: 8_090 },
  },
  engines: {
    main: { scaling: { by: 'prometheus', min: 0 } },
    gpu: {
      tag: '0.0.0-cuda',
      models: 'htdemucs',
      modelsClaim: 'models',
      runtimeClass: 'nvidia',
      nodeSelector: { 'nvidia.com/gpu.present': 'true' },
      tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }],
      resources: { limits: { 'nvidia.com/gpu': 1 } },
      scaling: { by: 'nats-jetstream' },
    },
    node: { kind: 'DaemonSet', settings: { LEASE_SECONDS: 40 }, drainSeconds: 3_600 },
  },
  ingress: {
    host: 'winnow.example.com',
    class: 'nginx',
    tlsSecret: 'tls',
    annotations: { a: 'b' },
  },
  networkPolicy: { clients: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }] },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
}

/** Renders what `helm install winnow` makes of these values, in the namespace `audio`. */
async function renderChart(t: TestContext, values: object): Promise<string> {
  const file = join(temporaryFolder(t), 'values.json')
  await writeFile(file, JSON.stringify(values))
  return helm('template', 'winnow', CHART, '--namespace', 'audio', '--values', file)
}

const find = (objects: readonly KubernetesObject[], kind: string, name: string) =>
  objects.find((object) => object.kind === kind && object.metadata.name === name) ??
  assert.fail(`no ${kind} ${name}`)

interface Probe {
  grpc: { service?: string }
}

interface Container {
  command: string[]
  env: { name: string; value?: string }[]
  startupProbe: Probe
  readinessProbe: Probe
  livenessProbe: Probe
}

const containerOf = ({ spec }: KubernetesObject): Container => spec.template.spec.containers[0]

const envOf = (object: KubernetesObject): Record<string, string> =>
  Object.fromEntries(containerOf(object).env.map(({ name, value = '127.0.0.1' }) => [name, value]))

test('the rendered objects are valid for Kubernetes, KEDA and the Prometheus operator', async (t) => {
  const folder = temporaryFolder(t)
  await helm('lint', '--strict', CHART, '--set', 'publicUrl=http://a,media.bucket=b')
  const [least, most] = [await renderChart(t, NEEDED), await renderChart(t, EVERYTHING)]
  for (const version of ['1.30', '1.37']) {
    await validate(least, version, folder)
    await validate(most, version, folder)
  }
  const kinds = (yaml: string) => new Set(objectsIn(yaml).map(({ kind }) => kind))
  const always = ['Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'Service']
  assert.deepEqual([...kinds(least)].sort(), always)
  const more = ['DaemonSet', 'Ingress', 'ScaledObject', 'ServiceMonitor']
  assert.deepEqual([...kinds(most)].sort(), [...always, ...more].sort())
  await assert.rejects(
    validate(least.replace('maxUnavailable: 1', 'maxMissing: 1'), '1.37', folder),
  )
  const text = most.replace("ignoreNullValues: 'false'", 'ignoreNullValues: false')
  await assert.rejects(validate(text, '1.37', folder), 'ScaledObject')
})

test("values that can't work are refused with what would be right", async (t) => {
  for (const [values, message] of [
    [{ media: { bucket: 'media' } }, /Set publicUrl: how clients reach the gateways/],
    [{ ...NEEDED, media: {} }, /Set media\.bucket to a bucket, or media\.claim to/],
    [{ ...NEEDED, media: { bucket: 'a', claim: 'b' } }, /media are kept in one of the two/],
    [{ ...NEEDED, engine: { replica: 2 } }, /additional properties 'replica' not allowed/],
    [{ ...NEEDED, settings: { XLA: true } }, /got boolean, want integer or string/],
    [{ ...NEEDED, engines: { main: { kind: 'Job' } } }, /one of 'Deployment', 'DaemonSet'/],
  ] as const)
    await assert.rejects(renderChart(t, values), message)
})

test('pods allow their programs to stop, use the most specific value, and only vary if scaled', async (t) => {
  const objects = objectsIn(await renderChart(t, EVERYTHING))
  const [gateway, main, gpu, node] = [
    find(objects, 'Deployment', 'winnow-gateway'),
    find(objects, 'Deployment', 'winnow-engine-main'),
    find(objects, 'Deployment', 'winnow-engine-gpu'),
    find(objects, 'DaemonSet', 'winnow-engine-node'),
  ]
  for (const engine of [main, gpu, node]) {
    const { terminationGracePeriodSeconds: seconds } = engine.spec.template.spec
    assert.ok(seconds >= Number(envOf(engine).DRAIN_SECONDS) + 30, 'STOP_MS_MAX of engine/main.ts')
    assert.equal('replicas' in engine.spec, false)
  }
  assert.deepEqual(
    [gateway, main, node].map((object) => envOf(object).LEASE_SECONDS),
    ['20', '20', '40'],
  )
  assert.equal(envOf(main).QUEUE_MAX, '1000000')
  assert.deepEqual(gpu.spec.template.spec.containers[0].resources.limits, { 'nvidia.com/gpu': 1 })
  const { image } = gpu.spec.template.spec.containers[0]
  assert.equal(image, 'winnow:0.0.0-cuda')
  const { triggers } = find(objects, 'ScaledObject', 'winnow-engine-gpu').spec
  assert.deepEqual(
    triggers
      .map(({ metadata }: { metadata: object }) => (metadata as { consumer: string }).consumer)
      .sort(),
    Object.values(JOB_QUEUES)
      .map(({ consumer }) => consumer)
      .sort(),
  )
})

test('a port of admins has the Service, and neither the ingress nor everybody', async (t) => {
  const settings = { ADMIN_PORT: 8_090 }
  for (const values of [EVERYTHING, { ...NEEDED, settings, networkPolicy: { admins: [] } }]) {
    const objects = objectsIn(await renderChart(t, values))
    const { ports } = find(objects, 'Service', 'winnow-gateway').spec
    assert.deepEqual(ports.at(-1), { name: 'admin', port: 8_090, targetPort: 'admin' })
    const { ingress } = find(objects, 'NetworkPolicy', 'winnow-gateway').spec
    const rule = { ports: [{ port: 'admin' }], from: [{ podSelector: {} }] }
    assert.deepEqual(ingress.at(-1), rule, 'the namespace')
  }
  const none = ['off', 0].map((port) => ({ settings, gateway: { settings: { ADMIN_PORT: port } } }))
  for (const values of [{}, ...none]) {
    const without = await renderChart(t, { ...NEEDED, ...values })
    assert.doesNotMatch(without, /name: admin|port: admin/)
  }
})

interface Rule {
  ports: readonly { port: string }[]
}

test('nobody reaches the metrics if the list of who may is empty', async (t) => {
  for (const [values, rules] of [
    [NEEDED, 1],
    [{ ...NEEDED, networkPolicy: { monitoring: [] } }, 0], // an empty `from` would mean everybody
  ] as const) {
    const objects = objectsIn(await renderChart(t, values))
    for (const component of ['gateway', 'engine']) {
      const { ingress } = find(objects, 'NetworkPolicy', `winnow-${component}`).spec
      const ofMetrics = ingress.filter(({ ports }: Rule) => ports[0]?.port === 'metrics')
      assert.equal(ofMetrics.length, rules, component)
    }
  }
})

test('engines scale by the work of all gateways, counted once, and not at all by what is unknown', async (t) => {
  const objects = objectsIn(
    await renderChart(t, { ...EVERYTHING, engine: { scaling: { models: 'auto|htdemucs' } } }),
  )
  const [{ metadata }] = find(objects, 'ScaledObject', 'winnow-engine-main').spec.triggers
  const work = (pod: string, model: string, namespace = 'audio') =>
    `winnow_work_seconds{namespace="${namespace}",pod="${pod}",model="${model}",status="IN_QUEUE"}`
  const isUp = 'winnow_database_up{namespace="audio",pod="a"}'
  const series = [
    [work('a', 'auto'), '_ 0 100'],
    [work('b', 'auto'), '_ 0 101'], // scraped a moment later
    [work('a', 'htdemucs'), '_ _ 50'],
    [work('a', 'scnet'), '_ 7 7'],
    [work('a', 'auto', 'another'), '9 9 9'],
    [isUp, '0 1 1'],
  ].map(([series, values]) => ({ series, values }))
  const at = (minute: number, values: number[]) => ({
    expr: metadata.query,
    eval_time: `${minute}m`,
    exp_samples: values.map((value) => ({ labels: '{}', value })),
  })
  const folder = temporaryFolder(t)
  const tests = [
    {
      interval: '1m',
      input_series: series,
      promql_expr_test: [at(0, []), at(1, [0]), at(2, [151])],
    },
  ]
  await writeFile(join(folder, 'test.yml'), JSON.stringify({ rule_files: [], tests }))
  await promtool('test', 'rules', join(folder, 'test.yml'))
})

/**
 * Lays a Secret out as the kubelet mounts it: links to files in a folder that an update replaces.
 */
async function mountSecret(folder: string, values: Readonly<Record<string, string>>) {
  await mkdir(join(folder, '..2026'), { recursive: true })
  await symlink('..2026', join(folder, '..data'))
  for (const [name, value] of Object.entries(values)) {
    await writeFile(join(folder, '..2026', `winnow_${name}`), value, { mode: 0o440 })
    await symlink(`..data/winnow_${name}`, join(folder, `winnow_${name}`))
  }
}

test('its gateway and engine run: their settings, secrets, probes and ports fit Winnow', async (t) => {
  const folder = temporaryFolder(t)
  const [http, rpc, ofGateway, control, ofEngine] = await freePorts(5)
  const nats = await startNatsServer({ folder: join(folder, 'nats') })
  t.after(() => nats.process.kill('SIGKILL'))
  const key = () => randomBytes(32).toString('base64')
  await mountSecret(join(folder, 'gateway-secret'), {
    DATABASE_URL: await createDatabase(t),
    NATS_URL: nats.url,
    BOOTSTRAP_API_KEY: API_KEY,
    'signing-key': key(),
    'encryption-key': key(),
  })
  await mountSecret(join(folder, 'engine-secret'), { NATS_URL: nats.url })
  const url = `http://127.0.0.1:${http}`
  const yaml = await renderChart(t, {
    publicUrl: url,
    media: { claim: 'media' },
    gateway: { settings: { PORT: http, GRPC_PORT: rpc, METRICS_PORT: ofGateway } },
    engine: { settings: { CONTROL_PORT: control, METRICS_PORT: ofEngine } },
  })
  const settings = await readFile('docs/reference/settings.md', 'utf8')
  const started = ['Deployment winnow-gateway', 'Deployment winnow-engine-main'].map((which) => {
    const [kind = '', name = ''] = which.split(' ')
    const role = name.split('-')[1]!
    const localYaml = yaml
      .replaceAll(/"\/(var|tmp)\b/g, `"${folder}/${role}/$1`)
      .replaceAll('/run/secrets/winnow', join(folder, `${role}-secret`))
      .replaceAll('http://winnow-gateway.audio.svc:8080', url)
      .replaceAll('$(POD_IP):9082', `127.0.0.1:${control}`)
      .replaceAll('0.0.0.0', '127.0.0.1')
    const object = find(objectsIn(localYaml), kind, name)
    for (const setting of Object.keys(envOf(object))) {
      const isKnown = settings.includes(`| \`${setting}\` |`)
      assert.ok(isKnown || ['HOME', 'POD_IP', 'CUDA_CACHE_PATH'].includes(setting), setting)
    }
    const [node, run, program] = containerOf(object).command
    assert.deepEqual([node, run], ['node', 'scripts/run.mjs'], 'as the image has them')
    return launchProgram(program!, envOf(object))
  })
  t.after(() => Promise.all(started.map((program) => program.end('SIGKILL'))))
  await Promise.all(started.map(({ ready }) => ready))
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  const probes = containerOf(find(objectsIn(yaml), 'Deployment', 'winnow-engine-main'))
  for (const { grpc } of [probes.startupProbe, probes.readinessProbe, probes.livenessProbe]) {
    assert.equal(await healthOf(`127.0.0.1:${control}`, grpc.service), 'SERVING')
  }
  assert.notEqual(probes.readinessProbe.grpc.service, probes.livenessProbe.grpc.service)
  for (const port of [ofGateway, ofEngine]) {
    assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 200)
  }
  const winnow = { client: createClient({ baseUrl: url, apiKey: API_KEY }) }
  const { submitted, last } = await separateFile(winnow, examplePath('siren-and-speech.wav'), {
    prompt: 'siren',
  })
  assert.equal(last.status, 'COMPLETED')
  await assertSiren(await downloadResult(winnow, submitted))
  const [gateway, engine] = started
  assert.equal(await engine!.end('SIGTERM'), 0)
  assert.equal(await gateway!.end('SIGTERM'), 0)
})
