import assert from 'node:assert/strict'
import test from 'node:test'
import { replicaFinding } from '../../../../scripts/cli/doctor/checks/broker.ts'
import { versionsFinding } from '../../../../scripts/cli/doctor/checks/bucket.ts'
import { clockFinding } from '../../../../scripts/cli/doctor/checks/clock.ts'
import {
  gpuFindings,
  missingLibraries,
  separationFinding,
} from '../../../../scripts/cli/doctor/checks/compute.ts'
import { schemaFinding } from '../../../../scripts/cli/doctor/checks/database.ts'
import { driverFinding } from '../../../../scripts/cli/doctor/checks/driver.ts'
import { memoryFinding } from '../../../../scripts/cli/doctor/checks/memory.ts'
import { ownerFinding } from '../../../../scripts/cli/doctor/checks/installation.ts'
import { nodeFinding } from '../../../../scripts/cli/doctor/checks/node.ts'
import { sandboxFinding } from '../../../../scripts/cli/doctor/checks/sandbox.ts'
import {
  exitCodeOf,
  failure,
  okFinding,
  unusedFinding,
  warning,
} from '../../../../scripts/cli/doctor/finding.ts'
import { printed } from '../../../../scripts/cli/doctor/print.ts'
import { parseGpus } from '../../../../scripts/cli/machine.ts'

const DRIVER =
  'NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n'
const OLD_DRIVER = DRIVER.replace('535.183.01', '470.82.01')
const GIB = 2 ** 30

test('findings are a table, each remedy under its finding', () => {
  const findings = [
    okFinding('node', 'Node 20'),
    unusedFinding('bucket', 'none'),
    warning('gpu 0', 'slow\nindeed', 'Wait.'),
    failure('broker', 'away', 'Start it.'),
  ]
  assert.equal(
    printed(findings),
    [
      'ok    node    Node 20',
      '-     bucket  none',
      'WARN  gpu 0   slow indeed',
      '              → Wait.',
      'FAIL  broker  away',
      '              → Start it.',
      '',
      '1 failure, 1 warning.',
      '',
    ].join('\n'),
  )
  assert.match(printed([okFinding('node', 'Node 20')]), /\nNothing is missing\.\n$/)
})

test('the exit code is that of the worst finding', () => {
  const [good, idle, odd, bad] = [
    okFinding('a', ''),
    unusedFinding('a', ''),
    warning('a', '', ''),
    failure('a', '', ''),
  ]
  assert.equal(exitCodeOf([good, idle]), 0)
  assert.equal(exitCodeOf([good, odd]), 1)
  assert.equal(exitCodeOf([bad, odd, good]), 2)
})

test('a Node that is too old is a failure', () => {
  const severities = ['20.18.9', '18.20.0', '20.19.0', '24.1.0'].map(
    (version) => nodeFinding(version).severity,
  )
  assert.deepEqual(severities, ['failure', 'failure', 'fine', 'fine'])
})

test('kernel features that the media sandbox lacks cause a warning about what is exposed', () => {
  assert.equal(sandboxFinding({ landlock: 1, calls: true }).severity, 'fine')
  assert.match(sandboxFinding({ landlock: 0, calls: true }).found, /reaches whatever files/)
  const without = sandboxFinding({ landlock: 0, calls: false })
  assert.equal(without.severity, 'warning')
  assert.match(without.found, /files .* and the network/)
})

test('a database and media of two installations are a failure that names both', () => {
  assert.equal(ownerFinding(undefined, undefined, 'the broker').severity, 'unused')
  assert.equal(ownerFinding('inst_1', 'inst_1', 'the broker').severity, 'fine')
  const finding = ownerFinding('inst_1', 'inst_2', 'the broker')
  assert.equal(finding.severity, 'failure')
  assert.match(finding.found, /database is of inst_1, the broker of inst_2/)
  assert.equal(ownerFinding('inst_1', undefined, 'the broker').severity, 'failure')
})

test('driver and build of libtensorflow must match', () => {
  assert.equal(driverFinding(null, undefined).severity, 'failure')
  assert.equal(driverFinding(null, false).severity, 'unused')
  assert.equal(driverFinding(DRIVER, true).severity, 'fine')
  assert.match(driverFinding(OLD_DRIVER, true).found, /470\.82\.01; CUDA 12 needs 525/)
  assert.match(driverFinding(null, true).found, /is the build for GPUs, but no NVIDIA driver/)
  assert.match(driverFinding(DRIVER, false).remedy ?? '', /WINNOW_COMPUTE=cuda/)
})

test("GPUs are read from nvidia-smi's list", () => {
  const text = '0, GPU-5e2c, NVIDIA L4, 23034, 22563\n1, GPU-77aa, NVIDIA L4, 23034, 10\n'
  assert.deepEqual(parseGpus(text)[1], {
    index: '1',
    uuid: 'GPU-77aa',
    name: 'NVIDIA L4',
    totalBytes: 23_034 * 2 ** 20,
    freeBytes: 10 * 2 ** 20,
  })
})

const CREATED =
  'I0000 gpu_device.cc:2021] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 20480 MB memory:  ' +
  '-> device: 0, name: NVIDIA L4, pci bus id: 0000:00:03.0, compute capability: 8.9\n'
const NO_CUDNN =
  "W dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.9'; dlerror: libcudnn.so.9: cannot open\n" +
  'W gpu_device.cc:2348] Cannot dlopen some GPU libraries.\n'

test('GPUs that TensorFlow does not see are named with the missing library', () => {
  assert.deepEqual(
    gpuFindings(CREATED, 1).map(({ severity, found }) => [severity, found]),
    [['fine', 'NVIDIA L4, of which TensorFlow takes 20.0 GiB']],
  )
  assert.deepEqual(missingLibraries(NO_CUDNN + NO_CUDNN), ['libcudnn.so.9'])
  const [blind] = gpuFindings(NO_CUDNN, 2)
  assert.equal(blind?.severity, 'warning')
  assert.match(blind?.found ?? '', /sees 0 of 2 GPUs: missing libcudnn\.so\.9/)
})

test('too little memory fails, memory used by others warns', () => {
  const memory = { neededBytes: 8 * GIB, totalBytes: 16 * GIB, freeBytes: 12 * GIB }
  assert.equal(memoryFinding('m', memory).severity, 'fine')
  assert.equal(memoryFinding('m', { ...memory, freeBytes: GIB }).severity, 'warning')
  assert.equal(memoryFinding('m', { ...memory, neededBytes: 20 * GIB }).severity, 'failure')
})

test('a newer schema fails unless the database allows it, an older one warns', () => {
  const finding = (applied: string[], oldest?: string) =>
    schemaFinding(
      'db',
      { applied, oldestUser: oldest ? { migration: oldest, version: '7.0.0' } : undefined },
      ['1', '2'],
    )
  assert.equal(finding(['1', '2']).severity, 'fine')
  assert.match(finding(['1', '2', '3'], '2').found, /expanded by a newer version/)
  const refused = finding(['1', '2', '3'], '3')
  assert.match(refused.found, /newer schema than this version \(3\)/)
  assert.match(refused.remedy ?? '', /7\.0\.0 \(3\) is the oldest/)
  for (const applied of [
    ['1', '3'],
    ['1', '2', '3'],
  ]) {
    assert.equal(finding(applied).severity, 'failure', applied.join())
  }
  assert.match(finding(['1']).found, /older schema \(without 2\)/)
})

test('a bucket that keeps versions forever warns', () => {
  assert.equal(versionsFinding(undefined, []).severity, 'fine')
  const rule = (Status: 'Enabled' | 'Disabled', NoncurrentDays?: number) => ({
    Status,
    ...(NoncurrentDays && { NoncurrentVersionExpiration: { NoncurrentDays } }),
  })
  for (const rules of [[], [rule('Disabled', 7)], [rule('Enabled')]]) {
    const { severity, found, remedy } = versionsFinding('Enabled', rules)
    assert.equal(severity, 'warning')
    assert.match(found, /keeps what retention/)
    assert.match(remedy ?? '', /noncurrent versions/)
  }
  assert.equal(versionsFinding('Suspended', []).severity, 'warning')
  const ended = versionsFinding('Enabled', [rule('Enabled', 30), rule('Enabled', 7)])
  assert.deepEqual([ended.severity, /7 more days/.test(ended.found)], ['fine', true])
})

test('a clock that is off warns, then fails', () => {
  const at = (theirs: number) => clockFinding('broker', theirs, [100_000, 100_020])
  assert.deepEqual(
    [100_012, 98_900, 102_000, 60_000].map((theirs) => at(theirs).severity),
    ['fine', 'warning', 'warning', 'failure'],
  )
  assert.match(at(102_000).found, /1990 ms behind the broker's/)
  assert.equal(
    clockFinding('broker', 100_000, [100_000, 104_000]).severity,
    'fine',
    'slow to answer',
  )
})

test('replicas that lag or are away are named', () => {
  const stream = (replicas: object[]) =>
    ({ config: { name: 'JOBS', num_replicas: 3 }, cluster: { replicas } }) as unknown as Parameters<
      typeof replicaFinding
    >[0][number]
  assert.equal(replicaFinding([stream([{ name: 'b', current: true }])]).severity, 'fine')
  const finding = replicaFinding([
    stream([
      { name: 'b', current: false, lag: 7 },
      { name: 'c', current: false, offline: true },
    ]),
  ])
  assert.match(finding.found, /replicas: 3; JOBS on b lags by 7, JOBS on c is away/)
})

test('a test second that came back wrong fails', () => {
  const report = {
    model: 'mini',
    loadSeconds: 1,
    separateSeconds: 1,
    samples: 44_100,
    targetShare: 0.4,
    isFinite: true,
  }
  assert.equal(separationFinding(report).severity, 'fine')
  for (const wrong of [{ isFinite: false }, { targetShare: 0 }]) {
    assert.equal(
      separationFinding({ ...report, ...wrong }).severity,
      'failure',
      JSON.stringify(wrong),
    )
  }
})
