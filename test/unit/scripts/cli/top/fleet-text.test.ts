import assert from 'node:assert/strict'
import test from 'node:test'
import { fleetText } from '../../../../../scripts/cli/top/fleet-text.ts'

const at = (second: number) => new Date(1_000 * second).toISOString()

const fleet = (
  second: number,
  audioSeconds: number,
  startedAt = 0,
): Parameters<typeof fleetText>[0] => ({
  at: at(second),
  engines: [
    {
      engine_id: 'gpu-1',
      version: '0.1.0',
      model: 'mini',
      device: 'gpu',
      state: 'BUSY',
      started_at: at(startedAt),
      jobs: 3,
      jobs_max: 8,
      lanes: 6,
      batch_frames_max: 4_000,
      steps_total: second,
      frames_total: second * 3_000,
      busy_seconds_total: second / 2,
      audio_seconds_total: audioSeconds,
      memory_bytes: 2 ** 30,
    },
  ],
  queue: {
    waiting: 5,
    in_progress: 3,
    oldest_seconds: 12.4,
    jobs_to_hand_over: 1,
    webhooks_due: 0,
  },
  failures: [
    {
      request_id: 'req_1',
      engine_id: null,
      failed_at: at(1),
      code: 'INVALID_MEDIA',
      message: 'no \x1b[31mcolour',
    },
  ],
})

const engineLine = (text: string) => text.split('\n').find((line) => line.startsWith('gpu-1'))

test('the first look shows rates since the engine started, the next those in between', () => {
  const first = fleet(100, 1_000)
  assert.match(
    engineLine(fleetText(first)) ?? '',
    /^gpu-1 +0\.1\.0 +mini +gpu +BUSY +3\/8 +6 +75 % +10\.0 +50 % +1024 MiB$/,
  )
  assert.match(engineLine(fleetText(first, first)) ?? '', / 10\.0 /)
  assert.match(engineLine(fleetText(fleet(110, 1_500), first)) ?? '', / 50\.0 /)
})

test('a restarted engine counts as another one', () => {
  assert.match(engineLine(fleetText(fleet(110, 50, 105), fleet(100, 1_000))) ?? '', / 10\.0 /)
})

test('queue and failures are shown, and no text of a failure moves the cursor', () => {
  const text = fleetText(fleet(100, 0))
  assert.match(text, /5 waiting \(the oldest for 12 s\), 3 in progress, 1 jobs to hand over/)
  assert.match(text, /INVALID_MEDIA +req_1 +- +no \\u001b\[31mcolour/)
  assert.match(fleetText({ ...fleet(1, 0), failures: [], engines: [] }), /Engines: none\n/)
})
