/**
 * The parts of the programme, the most valuable first. Each is imported only in its own process.
 */
import { xlaFlags } from '../../models/tensorflow/device-defaults.ts'
import type { LadderStep } from './ladder.ts'
import type { Part } from './options.ts'

/** A step of the ladder runs in its own process, because XLA reads its flags only once. */
const ladderStep = (step: LadderStep, title: string, env: Part['env'] = {}): Part => ({
  title,
  secondsMax: 120,
  env,
  load: async () => (await import('./parts/ladder.ts')).ladderPart(step),
})

export const PARTS: Readonly<Record<string, Part>> = {
  doctor: {
    title: 'what the host has and lacks',
    secondsMax: 30,
    load: async () => (await import('./parts/doctor.ts')).doctorPart,
  },
  kernels: {
    title: 'operations that the models run, and their GPU kernels',
    secondsMax: 30,
    load: async () => (await import('./parts/kernels.ts')).kernelsPart,
  },
  'parity-float32': {
    title: 'every stage compared with the reference, in float32',
    secondsMax: 30,
    env: { NVIDIA_TF32_OVERRIDE: '0' },
    load: async () => (await import('./parts/parity.ts')).compareWithReference,
  },
  mini: {
    title: 'mini, one channel, by batch: operation by operation, then as a graph',
    secondsMax: 30,
    load: async () => (await import('./parts/mini.ts')).miniPart,
  },
  'ladder-graph': ladderStep('graph', 'the ladder: operation by operation, then one graph', {
    XLA: 'off',
  }),
  'ladder-xla': ladderStep('XLA', 'the ladder: the graph as XLA compiles it', {
    XLA: 'on',
    XLA_FLAGS: xlaFlags(''),
  }),
  'ladder-command-buffers': ladderStep(
    'XLA with command buffers',
    'the ladder: that, launched as CUDA graphs',
    { XLA: 'on' },
  ),
  service: {
    title: 'whole requests at once through the real service, mini, stereo',
    secondsMax: 50,
    load: async () => (await import('./parts/service.ts')).servicePart,
  },
  'open-models': {
    title: 'HTDemucs, AudioSep and RoFormer by batch, random weights',
    secondsMax: 60,
    load: async () => (await import('./parts/open-models.ts')).openModelsPart,
  },
  transformer: {
    title: 'one evaluation of the transformer by size and batch, random weights',
    secondsMax: 120,
    load: async () => (await import('./parts/transformer.ts')).transformerPart,
  },
  codec: {
    title: 'the codec: a chunk encoded, its two streams decoded',
    secondsMax: 30,
    load: async () => (await import('./parts/codec.ts')).codecPart,
  },
  memory: {
    title: 'memory of whole separations, predicted and as the allocator has it',
    secondsMax: 20,
    load: async () => (await import('./parts/memory.ts')).memoryPart,
  },
  'parity-tf32': {
    title: 'the same with TF32 in products and convolutions; on a CPU there is none',
    secondsMax: 30,
    env: { NVIDIA_TF32_OVERRIDE: '1' },
    load: async () => (await import('./parts/parity.ts')).compareWithReference,
  },
  'parity-bfloat16': {
    title: 'separations in bfloat16 compared with float32, tiny random model',
    secondsMax: 25,
    load: async () => (await import('./parts/half-width.ts')).halfWidthPart,
  },
  soak: {
    title: 'requests without a break: does memory grow, does anything fail?',
    secondsMax: 70,
    load: async () => (await import('./parts/service.ts')).soakPart,
  },
}
