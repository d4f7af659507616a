/**
 * `winnow gpu-kernels [--library FILE]`: lists which GPU kernels the CUDA build of libtensorflow
 * has for the operations in models/tensorflow/gpu-kernels.json, and writes them to that file. Needs
 * no GPU. The default library is the libtensorflow_cc.so.2 that set-up unpacks with
 * WINNOW_COMPUTE=cuda. A test compares the list with the operations that the models run.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readOwnArgv, TEXT } from '../cli/command.ts'
import koffi from 'koffi'
import protobuf from 'protobufjs'

const LIST = fileURLToPath(new URL('../../models/tensorflow/gpu-kernels.json', import.meta.url))
const LIBRARY = fileURLToPath(
  new URL('../../.runtime/tensorflow/tensorflow/libtensorflow_cc.so.2', import.meta.url),
)

/** The fields that are needed of TensorFlow's kernel_def.proto and attr_value.proto. */
const KernelList = protobuf
  .parse(
    `syntax = "proto3";
    message KernelList { repeated KernelDef kernel = 1; }
    message KernelDef {
      string device_type = 2;
      repeated Constraint constraint = 3;
      repeated string host_memory_arg = 4;
      string label = 5;
    }
    message Constraint { string name = 1; AttrValue allowed_values = 2; }
    message AttrValue { ListValue list = 1; }
    message ListValue { repeated int32 type = 6 [packed = true]; }`,
    { keepCase: true },
  )
  .root.lookupType('KernelList')

interface KernelDef {
  device_type: string
  constraint: { name: string; allowed_values: { list: { type: number[] } } }[]
  host_memory_arg: string[]
  label: string
}

const { values } = readOwnArgv({ library: { ...TEXT, default: LIBRARY } })
const library = koffi.load(values.library)
koffi.struct('TF_Buffer', { data: 'void *', length: 'size_t', deallocator: 'void *' })
const newStatus = library.func('void *TF_NewStatus()')
const version = library.func('const char *TF_Version()')
const kernelsFor = library.func('TF_Buffer *TF_GetRegisteredKernelsForOp(const char *, void *)')

const status: unknown = newStatus()
const { operations } = JSON.parse(readFileSync(LIST, 'utf8')) as { operations: object }
const operationKernels = Object.keys(operations)
  .sort()
  .map((name) => [name, gpuKernels(name)] as const)
const lines = operationKernels.map(([name, kernels]) => {
  const rows = kernels.map((kernel) => `      ${JSON.stringify(kernel)}`)
  return rows.length === 0 ? `    "${name}": []` : `    "${name}": [\n${rows.join(',\n')}\n    ]`
})
const head = `  "tensorflow": "${version() as string}",\n  "operations": {\n`
writeFileSync(LIST, `{\n${head}${lines.join(',\n')}\n  }\n}\n`)
const without = operationKernels.filter(([, kernels]) => kernels.length === 0).map(([name]) => name)
console.log(
  `${operationKernels.length} operations; without a GPU kernel: ${without.join(', ') || 'none'}`,
)

/**
 * Returns each kernel's types by attribute, and the inputs and outputs that stay in host memory.
 */
function gpuKernels(name: string): { types: Record<string, number[]>; host: string[] }[] {
  const buffer: unknown = kernelsFor(name, status)
  const { data, length } = koffi.decode(buffer, 'TF_Buffer') as { data: unknown; length: number }
  const bytes = Buffer.from(koffi.decode(data, 'uint8_t', Number(length)) as Uint8Array)
  const { kernel = [] } = KernelList.toObject(KernelList.decode(bytes), { arrays: true }) as {
    kernel?: KernelDef[]
  }
  return kernel
    .filter(({ device_type: device, label = '' }) => device === 'GPU' && label === '')
    .map(({ constraint, host_memory_arg: host }) => ({
      types: Object.fromEntries(
        constraint.map(({ name, allowed_values: values }) => [name, values.list.type] as const),
      ),
      host: [...host].sort(),
    }))
}
