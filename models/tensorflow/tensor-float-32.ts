/** TensorFlow's switch for TF32 on GPUs, which its JavaScript binding does not expose. */

import koffi from 'koffi'

/** The mangled names of `tsl::enable_tensor_float_32_execution` and its getter. */
const SETTER = '_ZN3tsl32enable_tensor_float_32_executionEb'
const GETTER = '_ZN3tsl33tensor_float_32_execution_enabledEv'

/** Reads and sets whether float32 products and convolutions may be computed in TF32. */
export interface TensorFloat32 {
  get(): boolean
  set(isAllowed: boolean): void
}

/** @param path of the libtensorflow_framework that this process has loaded */
export function tensorFloat32In(path: string): TensorFloat32 {
  const library = koffi.load(path)
  return {
    get: library.func(GETTER, 'bool', []) as TensorFloat32['get'],
    set: library.func(SETTER, 'void', ['bool']) as TensorFloat32['set'],
  }
}
