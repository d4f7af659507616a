/** Runs the engine's compute thread on a device that needs no time, and profiles it on command. */
import { BroadcastChannel } from 'node:worker_threads'
import { withConstants } from '../../models/tensorflow/constants.ts'
import { native } from '../../models/tensorflow/tensor.ts'
import { instantDevice } from './instant-device.ts'
import { StageProfile, type StageFiles } from './profile.ts'

const STAGES: StageFiles = [
  ['stand-in for the device', /feed\/instant-device|models\/memory/],
  ['high-pass', /mini\/high-pass/],
  [
    'samples in and out',
    /mini-lane.ts (samplesOf|energyOf|scale|subtract|#read)|span-gain|viewsOf$/,
  ],
  ['text', /models\/text|mini\/text/],
  ['graphs', /models\/graph/],
  ['calls of operations', /tfjs-node-gpu|tfjs-core|models\/(tensor|constants|layers|stft)/],
  ['lanes', /models\/|compute-worker/],
]

Object.assign(native, {
  binding: withConstants(instantDevice(Object.getPrototypeOf(native.binding))),
  isUsingGpuDevice: true,
})

const profile = new StageProfile()
const channel = new BroadcastChannel('feed')
channel.onmessage = ({ data }) => void runCommand(data as string)
channel.unref()

await import('../../engine/compute/compute-worker.ts')

async function runCommand(command: string): Promise<void> {
  if (command === 'start') await profile.start()
  else channel.postMessage(await profile.stop(STAGES))
}
