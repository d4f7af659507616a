/** Reads the first GPU of a library (`workerData`) in a thread, as the compute thread does. */
import { parentPort, workerData } from 'node:worker_threads'
import { openNvml } from '../../../engine/gpu/nvml.ts'

const nvml = await openNvml(workerData as string)
parentPort!.postMessage(await nvml?.gpus[0]?.read())
