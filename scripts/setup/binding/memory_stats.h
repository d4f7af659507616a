// A method for the binding of TensorFlow.js, which set-up compiles into it (see patch.mjs):
// memoryStats tells what the allocator of the device has given out, as
// tf.config.experimental.get_memory_info does in Python. The C interface of TensorFlow has no way
// to it.

#ifndef WINNOW_MEMORY_STATS_H_
#define WINNOW_MEMORY_STATS_H_

#include <optional>

#include "tensorflow/c/eager/immediate_execution_context.h"
#include "tensorflow/c/eager/tfe_context_internal.h"
#include "tensorflow/core/framework/device.h"
#include "tfjs_backend.h"
#include "utils.h"

namespace tfnodejs {

// The allocator of the device that the binding computes on; null where it has none.
inline tensorflow::Allocator *DeviceAllocator(TFJSBackend *backend) {
  const char *type = backend->is_gpu_device ? "GPU" : "CPU";
  for (tensorflow::Device *device : tensorflow::unwrap(backend->context())->ListLocalTfDevices()) {
    if (device->device_type() == type) {
      return device->GetAllocator(tensorflow::AllocatorAttributes());
    }
  }
  return nullptr;
}

inline bool SetBytes(napi_env env, napi_value object, const char *name, int64_t bytes) {
  napi_value number;
  ENSURE_NAPI_OK_RETVAL(env, napi_create_double(env, static_cast<double>(bytes), &number), false);
  ENSURE_NAPI_OK_RETVAL(env, napi_set_named_property(env, object, name, number), false);
  return true;
}

// memoryStats(): { inUse, peak, limit } in bytes, `limit` 0 where there is none, or null where the
// device counts none. The peak is that since the last call.
inline napi_value MemoryStats(napi_env env, napi_callback_info info) {
  TFJSBackend *backend;
  ENSURE_NAPI_OK_RETVAL(
      env, napi_get_instance_data(env, reinterpret_cast<void **>(&backend)), nullptr);
  tensorflow::Allocator *allocator = DeviceAllocator(backend);
  std::optional<tensorflow::AllocatorStats> stats;
  if (allocator != nullptr) stats = allocator->GetStats();
  napi_value found;
  if (!stats) {
    ENSURE_NAPI_OK_RETVAL(env, napi_get_null(env, &found), nullptr);
    return found;
  }
  (void)allocator->ClearStats();
  ENSURE_NAPI_OK_RETVAL(env, napi_create_object(env, &found), nullptr);
  if (!SetBytes(env, found, "inUse", stats->bytes_in_use)) return nullptr;
  if (!SetBytes(env, found, "peak", stats->peak_bytes_in_use)) return nullptr;
  if (!SetBytes(env, found, "limit", stats->bytes_limit.value_or(0))) return nullptr;
  return found;
}

}  // namespace tfnodejs

#endif  // WINNOW_MEMORY_STATS_H_
