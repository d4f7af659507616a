/** Starts PyTorch programs for comparisons. */
import { fileURLToPath } from 'node:url'
import { startMeasuring, type MeasuringProcess } from './measuring-process.ts'

export type PyTorch = MeasuringProcess

/** Keeps waiting threads from spinning, which slows others down on a busy machine. */
const ENVIRONMENT = { GOMP_SPINCOUNT: '20000', OMP_WAIT_POLICY: 'passive' }

/**
 * @param python an interpreter that has PyTorch
 * @param script path relative to the folder of the benches; it answers each line with milliseconds
 */
export function startPyTorch(python: string, script: string, args: readonly string[]): PyTorch {
  const path = fileURLToPath(new URL(script, import.meta.url))
  return startMeasuring(python, ['-W', 'ignore', path, ...args], ENVIRONMENT)
}
