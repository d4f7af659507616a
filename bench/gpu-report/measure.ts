/**
 * Measures times, and the memory that the allocator handed out in the meantime, for several parts.
 */
import { readFileSync } from 'node:fs'
import { WARM_UP_CALLS } from '../../models/graph/graph-cache.ts'
import { native } from '../../models/tensorflow/tensor.ts'

const MIB = 2 ** 20

export const mebibytes = (bytes: number): number => Number((bytes / MIB).toFixed(1))

export interface TimedRuns {
  /** Per run. */
  millis: number[]
  /**
   * Least CPU time that this thread used in a run. If that is nearly the whole run on a GPU,
   * the device waits for JavaScript.
   */
  threadMillis: number
  /** Peak memory of the allocator, less what was in use before. */
  peakMib: number | null
}

/** Runs `work`, which reads its result from the device, `times` times or until time is up. */
export function timeRuns(work: () => void, times: number, hasTime: () => boolean): TimedRuns {
  const before = native.binding.memoryStats()?.inUse ?? 0
  const millis: number[] = []
  const onCpu: number[] = []
  let peak = 0
  for (let i = 0; i < times && (i === 0 || hasTime()); i += 1) {
    const [startedAt, computed] = [performance.now(), threadMillis()]
    work()
    millis.push(performance.now() - startedAt)
    onCpu.push(threadMillis() - computed)
    peak = Math.max(peak, native.binding.memoryStats()?.peak ?? 0)
  }
  return {
    millis,
    threadMillis: least(onCpu),
    peakMib: peak === 0 ? null : mebibytes(peak - before),
  }
}

/** How long the process's first thread has been on a CPU, according to Linux. */
const threadMillis = (): number =>
  Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6

/** How often the finished graph is timed. */
const GRAPH_RUNS = 5

/** Times single operations first; then, if time is left once the graph exists, the graph. */
export function speedOf(work: () => void, hasTime: () => boolean) {
  const single = timeRuns(work, WARM_UP_CALLS, hasTime)
  const isCompiled = single.millis.length === WARM_UP_CALLS
  const graph = isCompiled ? timeRuns(work, GRAPH_RUNS, hasTime) : null
  return {
    best: least((graph ?? single).millis),
    cells: {
      'first call, ms': single.millis[0]!,
      'single operations, ms': least(single.millis),
      'graph, ms': graph && least(graph.millis),
      'its JavaScript, ms': (graph ?? single).threadMillis,
      'peak MiB': single.peakMib,
    },
  }
}

export const least = (values: readonly number[]): number => Math.min(...values)
