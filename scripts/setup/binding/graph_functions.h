// Two methods for the binding of TensorFlow.js, which set-up compiles into it (see patch.mjs):
// addFunction makes a function of a graph, and executeOp then runs it under its name, like any
// operation: handles go in and handles come out, so nothing is copied between host and device.
// removeFunction frees it. TensorFlow 2 runs its own tf.function in the same way.

#ifndef WINNOW_GRAPH_FUNCTIONS_H_
#define WINNOW_GRAPH_FUNCTIONS_H_

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/eager/c_api.h"
#include "tfjs_backend.h"
#include "utils.h"

namespace tfnodejs {

// Frees what the C interface of TensorFlow gave, on every way out.
template <typename T, void (*Delete)(T *)>
struct Deleter {
  void operator()(T *it) const { Delete(it); }
};
using OwnedGraph = std::unique_ptr<TF_Graph, Deleter<TF_Graph, TF_DeleteGraph>>;
using OwnedBuffer = std::unique_ptr<TF_Buffer, Deleter<TF_Buffer, TF_DeleteBuffer>>;
using OwnedFunction = std::unique_ptr<TF_Function, Deleter<TF_Function, TF_DeleteFunction>>;
using OwnedImportOptions =
    std::unique_ptr<TF_ImportGraphDefOptions,
                    Deleter<TF_ImportGraphDefOptions, TF_DeleteImportGraphDefOptions>>;

// The output "node:index"; throws where the graph has none.
inline bool FindOutput(napi_env env, TF_Graph *graph, const std::string &text, TF_Output *found) {
  const size_t colon = text.rfind(':');
  TF_Operation *operation = TF_GraphOperationByName(graph, text.substr(0, colon).c_str());
  const int index = colon == std::string::npos ? 0 : std::atoi(text.c_str() + colon + 1);
  if (operation == nullptr || index < 0 || index >= TF_OperationNumOutputs(operation)) {
    NAPI_THROW_ERROR(env, "The graph has no output %s", text.c_str());
    return false;
  }
  *found = {operation, index};
  return true;
}

// The outputs that an array of "node:index" names; false where an exception was thrown.
inline bool FindOutputs(napi_env env, TF_Graph *graph, napi_value names,
                        std::vector<TF_Output> *found) {
  uint32_t length;
  ENSURE_NAPI_OK_RETVAL(env, napi_get_array_length(env, names, &length), false);
  for (uint32_t i = 0; i < length; i++) {
    napi_value name;
    std::string text;
    TF_Output output;
    ENSURE_NAPI_OK_RETVAL(env, napi_get_element(env, names, i, &name), false);
    if (GetStringParam(env, name, text) != napi_ok) return false;
    if (!FindOutput(env, graph, text, &output)) return false;
    found->push_back(output);
  }
  return true;
}

// The graph of a serialized GraphDef; null where an exception was thrown.
inline OwnedGraph ImportGraph(napi_env env, napi_value graph_def) {
  void *data;
  size_t size;
  ENSURE_NAPI_OK_RETVAL(env, napi_get_buffer_info(env, graph_def, &data, &size), nullptr);
  OwnedGraph graph(TF_NewGraph());
  OwnedBuffer buffer(TF_NewBufferFromString(data, size));
  OwnedImportOptions options(TF_NewImportGraphDefOptions());
  TF_AutoStatus tf_status;
  TF_GraphImportGraphDef(graph.get(), buffer.get(), options.get(), tf_status.status);
  ENSURE_TF_OK_RETVAL(env, tf_status, nullptr);
  return graph;
}

// The four arguments of a method, of which the first is the name of a function, and the backend;
// false where an exception was thrown.
inline bool ReadArguments(napi_env env, napi_callback_info info, const char *method,
                          napi_value (&args)[4], TFJSBackend **backend, std::string *name) {
  size_t argc = 4;
  ENSURE_NAPI_OK_RETVAL(env, napi_get_cb_info(env, info, &argc, args, nullptr, nullptr), false);
  if (argc < 4) {
    NAPI_THROW_ERROR(env, "%s takes 4 arguments, not %zu", method, argc);
    return false;
  }
  ENSURE_NAPI_OK_RETVAL(
      env, napi_get_instance_data(env, reinterpret_cast<void **>(backend)), false);
  return GetStringParam(env, args[0], *name) == napi_ok;
}

// addFunction(name, graphDef, inputs, outputs): `inputs` and `outputs` are arrays of "node:index".
// Throws, and leaves nothing, where the name is taken or TensorFlow refuses the graph.
inline napi_value AddFunction(napi_env env, napi_callback_info info) {
  napi_value args[4];
  TFJSBackend *backend;
  std::string name;
  if (!ReadArguments(env, info, "addFunction", args, &backend, &name)) return nullptr;
  if (TFE_ContextHasFunction(backend->context(), name.c_str())) {
    NAPI_THROW_ERROR(env, "A function %s is there already", name.c_str());
    return nullptr;
  }
  OwnedGraph graph = ImportGraph(env, args[1]);
  if (!graph) return nullptr;
  std::vector<TF_Output> inputs, outputs;
  if (!FindOutputs(env, graph.get(), args[2], &inputs)) return nullptr;
  if (!FindOutputs(env, graph.get(), args[3], &outputs)) return nullptr;

  TF_AutoStatus tf_status;
  OwnedFunction function(TF_GraphToFunction(
      graph.get(), name.c_str(), /*append_hash_to_fn_name=*/0, /*num_opers=*/-1, nullptr,
      inputs.size(), inputs.data(), outputs.size(), outputs.data(), /*output_names=*/nullptr,
      /*opts=*/nullptr, /*description=*/nullptr, tf_status.status));
  ENSURE_TF_OK_RETVAL(env, tf_status, nullptr);
  TFE_ContextAddFunction(backend->context(), function.get(), tf_status.status);
  ENSURE_TF_OK_RETVAL(env, tf_status, nullptr);
  return nullptr;
}

// removeFunction(name). Throws where there is none of that name.
inline napi_value RemoveFunction(napi_env env, napi_callback_info info) {
  size_t argc = 1;
  napi_value args[1];
  ENSURE_NAPI_OK_RETVAL(env, napi_get_cb_info(env, info, &argc, args, nullptr, nullptr), nullptr);
  if (argc < 1) {
    NAPI_THROW_ERROR(env, "removeFunction takes a name");
    return nullptr;
  }
  TFJSBackend *backend;
  ENSURE_NAPI_OK_RETVAL(
      env, napi_get_instance_data(env, reinterpret_cast<void **>(&backend)), nullptr);
  std::string name;
  if (GetStringParam(env, args[0], name) != napi_ok) return nullptr;
  if (!TFE_ContextHasFunction(backend->context(), name.c_str())) {
    NAPI_THROW_ERROR(env, "There is no function %s", name.c_str());
    return nullptr;
  }
  TF_AutoStatus tf_status;
  TFE_ContextRemoveFunction(backend->context(), name.c_str(), tf_status.status);
  ENSURE_TF_OK_RETVAL(env, tf_status, nullptr);
  return nullptr;
}

}  // namespace tfnodejs

#endif  // WINNOW_GRAPH_FUNCTIONS_H_
