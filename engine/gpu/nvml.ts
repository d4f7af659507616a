/**
 * NVIDIA's management library (NVML), as far as metrics need it. Calls run on threads of their own,
 * because one may take seconds when a GPU has fallen off its bus.
 */

import { promisify } from 'node:util'
import type { LibraryHandle } from 'koffi'

/** What a GPU reports; unsupported values are absent. */
export interface GpuReading {
  /** Its UUID. */
  gpu: string
  memoryUsedBytes?: number
  memoryTotalBytes?: number
  utilizationRatio?: number
  powerWatts?: number
  temperatureCelsius?: number
}

/** A critical error reported by the driver; NVIDIA documents the numbers. */
export interface XidError {
  gpu: string
  xid: number
}

export interface Gpu {
  uuid: string
  /** Major number of its compute capability, 8 for Ampere; absent if it does not report one. */
  computeMajor?: number
  read(): Promise<GpuReading>
}

/** How long to wait for the driver, so that a hanging GPU delays nothing else. */
const READ_MS_MAX = 2_000

/** Returns the reading, or `otherwise` if it does not arrive in time. */
export const inTime = <T>(reading: Promise<T>, otherwise: T): Promise<T> =>
  Promise.race([
    reading,
    new Promise<T>((resolve) => setTimeout(resolve, READ_MS_MAX, otherwise).unref()),
  ])

export interface Nvml {
  /** In the order of PCI addresses. */
  gpus: readonly Gpu[]
  /** Collects the Xids of the GPUs in `uuids` from now on. */
  watchXids(uuids: readonly string[]): void
  /** Errors since the last call. */
  takeXids(): Promise<XidError[]>
  close(): void
}

const SUCCESS = 0
const TIMEOUT = 10
const UUID_BYTES = 96
const SENSOR_OF_GPU = 0
const XID_EVENT = 8n
/** More than this many in one call are of no use. */
const XIDS_MAX = 100

/** The dynamic loader finds it by this name if there is a driver. */
const LIBRARY = 'libnvidia-ml.so.1'

type Handle = bigint
type OutParameter = [unknown]

/** Opens the library; null if there is no driver, or none that answers. */
export async function openNvml(library = LIBRARY): Promise<Nvml | null> {
  const koffi = (await import('koffi')).default
  let handle: LibraryHandle
  try {
    handle = koffi.load(library)
  } catch {
    return null // most machines have no GPU
  }
  defineTypes(koffi)
  const calls = callsOf(handle)
  if ((await calls.init()) !== SUCCESS) return null
  const gpus = await openGpus(calls)
  const xids = createXids(calls, gpus)
  return { gpus, ...xids, close: () => void calls.shutdown() }
}

/** koffi's type names are global to the process. */
let typesDefined = false
function defineTypes({ struct }: Pick<typeof import('koffi'), 'struct'>): void {
  if (typesDefined) return
  typesDefined = true
  struct('nvmlMemory_t', { total: 'uint64_t', free: 'uint64_t', used: 'uint64_t' })
  struct('nvmlUtilization_t', { gpu: 'uint', memory: 'uint' })
  struct('nvmlEventData_t', {
    device: 'void *',
    eventType: 'uint64_t',
    eventData: 'uint64_t',
    gpuInstanceId: 'uint',
    computeInstanceId: 'uint',
  })
}

type Calls = ReturnType<typeof callsOf>

/** Every function returns a code, which is 0 for success. */
function callsOf(library: LibraryHandle) {
  const bind = (declaration: string) =>
    promisify(library.func(declaration).async) as (...values: unknown[]) => Promise<number>
  return {
    init: bind('int nvmlInit_v2()'),
    shutdown: library.func('int nvmlShutdown()') as () => number,
    count: bind('int nvmlDeviceGetCount_v2(_Out_ uint *count)'),
    handle: bind('int nvmlDeviceGetHandleByIndex_v2(uint index, _Out_ void **device)'),
    uuid: bind('int nvmlDeviceGetUUID(void *device, _Out_ uint8_t *uuid, uint length)'),
    capability: bind(
      'int nvmlDeviceGetCudaComputeCapability(void *device, _Out_ int *major, _Out_ int *minor)',
    ),
    memory: bind('int nvmlDeviceGetMemoryInfo(void *device, _Out_ nvmlMemory_t *memory)'),
    utilization: bind(
      'int nvmlDeviceGetUtilizationRates(void *device, _Out_ nvmlUtilization_t *rates)',
    ),
    power: bind('int nvmlDeviceGetPowerUsage(void *device, _Out_ uint *milliwatts)'),
    temperature: bind(
      'int nvmlDeviceGetTemperature(void *device, int sensor, _Out_ uint *celsius)',
    ),
    createEvents: library.func('int nvmlEventSetCreate(_Out_ void **set)') as Synchronous,
    registerEvents: library.func(
      'int nvmlDeviceRegisterEvents(void *device, uint64_t types, void *set)',
    ) as Synchronous,
    waitForEvent: bind(
      'int nvmlEventSetWait_v2(void *set, _Out_ nvmlEventData_t *data, uint timeout)',
    ),
  }
}

type Synchronous = (...values: unknown[]) => number

/** Returns what a call writes to its last pointer; undefined if the GPU does not support it. */
async function readValue<T>(call: (out: [T | null]) => Promise<number>): Promise<T | undefined> {
  const out: [T | null] = [null]
  return (await call(out)) === SUCCESS ? (out[0] ?? undefined) : undefined
}

type OpenGpu = Gpu & { handle: Handle }

async function openGpus(calls: Calls): Promise<OpenGpu[]> {
  const count = (await readValue<number>((out) => calls.count(out))) ?? 0
  const gpus: OpenGpu[] = []
  for (let index = 0; index < count; index += 1) {
    const handle = await readValue<Handle>((out) => calls.handle(index, out))
    if (handle === undefined) continue // the GPU is lost, or this process may not use it
    const text = Buffer.alloc(UUID_BYTES)
    if ((await calls.uuid(handle, text, UUID_BYTES)) !== SUCCESS) continue
    const uuid = text.toString('latin1', 0, text.indexOf(0))
    const minor = [null]
    const computeMajor = await readValue<number>((out) => calls.capability(handle, out, minor))
    gpus.push({ uuid, handle, computeMajor, read: () => readGpu(calls, uuid, handle) })
  }
  return gpus
}

async function readGpu(calls: Calls, gpu: string, handle: Handle): Promise<GpuReading> {
  type Memory = { total: number; used: number }
  const memory = await readValue<Memory>((out) => calls.memory(handle, out))
  const rates = await readValue<{ gpu: number }>((out) => calls.utilization(handle, out))
  const milliwatts = await readValue<number>((out) => calls.power(handle, out))
  const celsius = await readValue<number>((out) => calls.temperature(handle, SENSOR_OF_GPU, out))
  return {
    gpu,
    ...(memory && { memoryUsedBytes: Number(memory.used), memoryTotalBytes: Number(memory.total) }),
    ...(rates && { utilizationRatio: rates.gpu / 100 }),
    ...(milliwatts !== undefined && { powerWatts: milliwatts / 1_000 }),
    ...(celsius !== undefined && { temperatureCelsius: celsius }),
  }
}

/** The driver keeps events until they are read. */
function createXids(calls: Calls, gpus: readonly OpenGpu[]): Pick<Nvml, 'watchXids' | 'takeXids'> {
  let events: unknown
  return {
    watchXids(uuids) {
      const set: OutParameter = [null]
      if (calls.createEvents(set) !== SUCCESS) return
      const watched = gpus.filter(({ uuid }) => uuids.includes(uuid))
      const registered = watched.map(({ handle }) =>
        calls.registerEvents(handle, XID_EVENT, set[0]),
      )
      if (registered.includes(SUCCESS)) events = set[0]
    },
    async takeXids() {
      const xids: XidError[] = []
      while (events && xids.length < XIDS_MAX) {
        const out: [{ device: Handle; eventData: number } | null] = [null]
        const code = await calls.waitForEvent(events, out, 0)
        if (code !== SUCCESS || !out[0]) {
          if (code !== TIMEOUT) events = null // a GPU is lost, and its last Xid has been reported
          break
        }
        const { device, eventData } = out[0]
        const gpu = gpus.find(({ handle }) => handle === device)?.uuid ?? ''
        xids.push({ gpu, xid: Number(eventData) })
      }
      return xids
    },
  }
}
