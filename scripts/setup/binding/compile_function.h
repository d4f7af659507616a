// A method for the binding of TensorFlow.js, which set-up compiles into it (see patch.mjs):
// compileFunction has XLA compile a function on another thread, while the thread that called it
// goes on. The interface of TensorFlow compiles what it runs, so that the function is run once and
// its results are dropped; later calls with `_XlaMustCompile` find it compiled.

#ifndef WINNOW_COMPILE_FUNCTION_H_
#define WINNOW_COMPILE_FUNCTION_H_

#include <memory>
#include <string>
#include <vector>

#include "graph_functions.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/eager/c_api.h"
#include "tfe_auto_op.h"
#include "tfjs_backend.h"
#include "utils.h"

namespace tfnodejs {

struct Compilation {
  explicit Compilation(TFE_Op *op, uint32_t outputs) : op(op), outputs(outputs, nullptr) {}

  TFE_AutoOp op;  // holds its inputs
  std::vector<TFE_TensorHandle *> outputs;
  TF_AutoStatus status;
  napi_ref done = nullptr;
  napi_async_work work = nullptr;
};

// On a thread of Node's pool.
inline void Compile(napi_env, void *data) {
  auto *compilation = static_cast<Compilation *>(data);
  int count = compilation->outputs.size();
  TFE_Execute(compilation->op.op, compilation->outputs.data(), &count, compilation->status.status);
}

// On the thread that called: calls `done` with null, or the message of what went wrong.
inline void Compiled(napi_env env, napi_status, void *data) {
  std::unique_ptr<Compilation> compilation(static_cast<Compilation *>(data));
  for (TFE_TensorHandle *output : compilation->outputs) {
    if (output != nullptr) TFE_DeleteTensorHandle(output);
  }
  napi_value done, global, problem, answer;
  ENSURE_NAPI_OK(env, napi_get_reference_value(env, compilation->done, &done));
  ENSURE_NAPI_OK(env, napi_delete_reference(env, compilation->done));
  ENSURE_NAPI_OK(env, napi_delete_async_work(env, compilation->work));
  ENSURE_NAPI_OK(env, napi_get_global(env, &global));
  ENSURE_NAPI_OK(env, napi_get_null(env, &problem));
  if (TF_GetCode(compilation->status.status) != TF_OK) {
    const char *message = TF_Message(compilation->status.status);
    ENSURE_NAPI_OK(env, napi_create_string_utf8(env, message, NAPI_AUTO_LENGTH, &problem));
  }
  napi_call_function(env, global, done, 1, &problem, &answer);  // what it throws is uncaught
}

// compileFunction(name, ids, outputs, done): `ids` of the inputs as executeOp has them, `outputs`
// the number of results. Throws where there is no such function or input, and calls nothing then.
inline napi_value CompileFunction(napi_env env, napi_callback_info info) {
  napi_value args[4];
  TFJSBackend *backend;
  std::string name;
  if (!ReadArguments(env, info, "compileFunction", args, &backend, &name)) return nullptr;
  uint32_t inputs, outputs;
  ENSURE_NAPI_OK_RETVAL(env, napi_get_array_length(env, args[1], &inputs), nullptr);
  ENSURE_NAPI_OK_RETVAL(env, napi_get_value_uint32(env, args[2], &outputs), nullptr);

  TF_AutoStatus tf_status;
  TFE_Op *op = TFE_NewOp(backend->context(), name.c_str(), tf_status.status);
  ENSURE_TF_OK_RETVAL(env, tf_status, nullptr);
  auto compilation = std::make_unique<Compilation>(op, outputs);
  TFE_OpSetAttrBool(op, "_XlaMustCompile", 1);
  for (uint32_t i = 0; i < inputs; i++) {
    napi_value element;
    int32_t id;
    ENSURE_NAPI_OK_RETVAL(env, napi_get_element(env, args[1], i, &element), nullptr);
    ENSURE_NAPI_OK_RETVAL(env, napi_get_value_int32(env, element, &id), nullptr);
    TFE_TensorHandle *handle = backend->handle(id);
    if (handle == nullptr) {
      NAPI_THROW_ERROR(env, "There is no tensor %d", id);
      return nullptr;
    }
    TFE_OpAddInput(op, handle, tf_status.status);
    ENSURE_TF_OK_RETVAL(env, tf_status, nullptr);
  }
  ENSURE_NAPI_OK_RETVAL(env, napi_create_reference(env, args[3], 1, &compilation->done), nullptr);
  napi_value label;
  ENSURE_NAPI_OK_RETVAL(
      env, napi_create_string_utf8(env, "compileFunction", NAPI_AUTO_LENGTH, &label), nullptr);
  ENSURE_NAPI_OK_RETVAL(env,
                        napi_create_async_work(env, nullptr, label, Compile, Compiled,
                                               compilation.get(), &compilation->work),
                        nullptr);
  ENSURE_NAPI_OK_RETVAL(env, napi_queue_async_work(env, compilation->work), nullptr);
  compilation.release();
  return nullptr;
}

}  // namespace tfnodejs

#endif  // WINNOW_COMPILE_FUNCTION_H_
