/** The GPUs of this engine as its metrics show them. */

import type { Logger } from '../../shared/telemetry/log.ts'
import { inTime, openNvml, type GpuReading, type Nvml, type XidError } from '../gpu/nvml.ts'
import { visibleGpus } from '../gpu/visible-gpus.ts'

interface GpuMonitorOptions {
  /** As in CUDA_VISIBLE_DEVICES; undefined: all. */
  visible: string | undefined
  onXid(error: XidError): void
  log: Logger
}

export interface GpuMonitor {
  /** Readings of the GPUs now; empty when they do not answer in time. */
  read(): Promise<readonly GpuReading[]>
  close(): void
}

const NO_GPUS: GpuMonitor = { read: async () => [], close: () => undefined }

/** Never throws, and says nothing where there is no GPU. */
export async function openGpuMonitor(options: GpuMonitorOptions): Promise<GpuMonitor> {
  const nvml = await openNvml()
  if (!nvml) return NO_GPUS
  const uuids = visibleGpus(
    nvml.gpus.map(({ uuid }) => uuid),
    options.visible,
  )
  nvml.watchXids(uuids)
  let reading: Promise<readonly GpuReading[]> | null = null
  return {
    read() {
      reading ??= readAll(nvml, uuids, options).finally(() => {
        reading = null
      })
      return inTime(reading, []) // a hanging GPU must not hide the other metrics
    },
    close: () => nvml.close(),
  }
}

async function readAll(
  nvml: Nvml,
  uuids: readonly string[],
  { onXid, log }: GpuMonitorOptions,
): Promise<readonly GpuReading[]> {
  for (const error of await nvml.takeXids()) {
    log.error(error, 'the GPU reported a critical error (Xid)')
    onXid(error)
  }
  const gpus = nvml.gpus.filter(({ uuid }) => uuids.includes(uuid))
  return Promise.all(gpus.map((gpu) => gpu.read()))
}
