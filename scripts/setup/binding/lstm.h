// An operation for TensorFlow, which set-up compiles into the binding of TensorFlow.js (see
// patch.mjs): WinnowLstm computes a long short-term memory in both directions over all steps.
//
// Step by step, a graph of TensorFlow's operations goes through memory some ten times for each
// step, and both threads wait for each other after each operation. Here a thread takes rows through
// all steps alone, and gates never leave the registers. A row's numbers depend on no other row, nor
// on how rows are shared out.

#ifndef WINNOW_LSTM_H_
#define WINNOW_LSTM_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_tensor.h"
#include "utils.h"

#if defined(__x86_64__)

namespace tfnodejs {

// Units of a tile of the weights: [tiles][dim + hidden][4 gates][kTileUnits].
constexpr int64_t kTileUnits = 16;
constexpr int64_t kGates = 4;  // input, forget, cell, output
// Rows that a thread takes through all steps at once: their state stays in its cache.
constexpr int64_t kRowsMax = 96;

struct Lstm {
  int64_t steps, rows, dim, hidden;
  const float *x;        // [steps][rows][dim]
  const float *weights;  // [2 directions][tiles][dim + hidden][4][kTileUnits]
  const float *bias;     // [2 directions][tiles][4][kTileUnits]
  float *y;              // [steps][rows][2 directions][hidden]
};

#define WINNOW_INLINE inline __attribute__((always_inline))
#define WINNOW_UNROLL _Pragma("GCC unroll 8")

// Numbers that a register holds.
template <int kLanes>
struct Register {
  typedef float Floats __attribute__((vector_size(kLanes * 4)));
  typedef int32_t Integers __attribute__((vector_size(kLanes * 4)));
};

template <typename To, typename From>
WINNOW_INLINE void CopyBits(const From &from, To *to) {
  static_assert(sizeof(To) == sizeof(From), "");
  std::memcpy(to, &from, sizeof(To));
}

template <typename Floats>
WINNOW_INLINE void Load(const float *from, Floats *to) {
  std::memcpy(to, from, sizeof(Floats));
}

// 1 / (1 + e^-x), within some units in the last place: e^-x = 2^n e^r with |r| <= ln 2 / 2.
template <int kLanes>
WINNOW_INLINE void Sigmoid(typename Register<kLanes>::Floats *x) {
  using Floats = typename Register<kLanes>::Floats;
  using Integers = typename Register<kLanes>::Integers;
  constexpr float kMost = 87.0f;        // e^87 is near the largest number
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: what is added to it loses its fraction
  Floats y = -*x;
  y = y > kMost ? Floats{} + kMost : y;
  y = y < -kMost ? Floats{} - kMost : y;
  const Floats rounded = y * 1.44269504f + kRound;  // log2(e)
  const Floats n = rounded - kRound;
  const Floats r = y - n * 0.693359375f + n * 2.12194440e-4f;  // ln 2 in two parts
  Floats e = Floats{} + 1.9875691500e-4f;
  e = e * r + 1.3981999507e-3f;
  e = e * r + 8.3334519073e-3f;
  e = e * r + 4.1665795894e-2f;
  e = e * r + 1.6666665459e-1f;
  e = e * r + 5.0000001201e-1f;
  e = e * r * r + r + 1.0f;
  Integers power, bits;
  CopyBits(rounded, &power);
  CopyBits(e, &bits);
  bits += power << 23;
  CopyBits(bits, &e);
  *x = 1.0f / (1.0f + e);
}

template <int kLanes>
WINNOW_INLINE void Tanh(typename Register<kLanes>::Floats *x) {
  *x *= 2.0f;
  Sigmoid<kLanes>(x);
  *x = *x * 2.0f - 1.0f;
}

// Adds the products of kRows rows of `a` with weights [count][4][kTileUnits].
template <int kLanes, int kRows>
WINNOW_INLINE void AddProducts(const float *a, int64_t row_size, const float *weights,
                               int64_t count,
                               typename Register<kLanes>::Floats (&sums)[kRows][kGates]) {
  for (int64_t k = 0; k < count; k++, weights += kGates * kTileUnits) {
    typename Register<kLanes>::Floats weight[kGates];
    WINNOW_UNROLL for (int gate = 0; gate < kGates; gate++) {
      Load(weights + gate * kTileUnits, &weight[gate]);
    }
    WINNOW_UNROLL for (int row = 0; row < kRows; row++) {
      const float factor = a[row * row_size + k];
      WINNOW_UNROLL for (int gate = 0; gate < kGates; gate++) {
        sums[row][gate] += weight[gate] * factor;
      }
    }
  }
}

// Where a tile's units of some rows are at one step.
struct Place {
  const float *x;       // of the first row
  const float *before;  // its output one step earlier; null at the first step
  const float *weights, *bias;
  float *cell;  // [rows][lanes]
  float *y;
  int64_t width;  // units that there are, at most the lanes
};

// One step of kRows rows, for as many units as a register has lanes.
template <int kLanes, int kRows>
WINNOW_INLINE void Advance(const Lstm &lstm, const Place &at, int64_t first_row) {
  typename Register<kLanes>::Floats gates[kRows][kGates], cell;
  WINNOW_UNROLL for (int row = 0; row < kRows; row++) {
    WINNOW_UNROLL for (int gate = 0; gate < kGates; gate++) {
      Load(at.bias + gate * kTileUnits, &gates[row][gate]);
    }
  }
  const int64_t out_size = 2 * lstm.hidden;
  AddProducts<kLanes, kRows>(at.x + first_row * lstm.dim, lstm.dim, at.weights, lstm.dim, gates);
  if (at.before != nullptr) {
    AddProducts<kLanes, kRows>(at.before + first_row * out_size, out_size,
                               at.weights + lstm.dim * kGates * kTileUnits, lstm.hidden, gates);
  }
  WINNOW_UNROLL for (int row = 0; row < kRows; row++) {
    float *state = at.cell + (first_row + row) * kLanes;
    Load(state, &cell);
    Sigmoid<kLanes>(&gates[row][0]);
    Sigmoid<kLanes>(&gates[row][1]);
    Tanh<kLanes>(&gates[row][2]);
    Sigmoid<kLanes>(&gates[row][3]);
    cell = cell * gates[row][1] + gates[row][0] * gates[row][2];
    std::memcpy(state, &cell, sizeof(cell));
    Tanh<kLanes>(&cell);
    cell *= gates[row][3];
    std::memcpy(at.y + (first_row + row) * out_size, &cell, at.width * sizeof(float));
  }
}

// Takes `count` rows through all steps in one direction; kRows: as many as registers have room for.
template <int kLanes, int kRows>
WINNOW_INLINE void TakeThrough(const Lstm &lstm, int64_t direction, int64_t first, int64_t count) {
  const int64_t tiles = (lstm.hidden + kTileUnits - 1) / kTileUnits;
  const int64_t tile_size = (lstm.dim + lstm.hidden) * kGates * kTileUnits;
  const int64_t step_size = lstm.rows * 2 * lstm.hidden;
  std::vector<float> cells(count * tiles * kTileUnits);
  for (int64_t step = 0; step < lstm.steps; step++) {
    const int64_t time = direction == 0 ? step : lstm.steps - 1 - step;
    const float *x = lstm.x + (time * lstm.rows + first) * lstm.dim;
    float *y = lstm.y + time * step_size + (first * 2 + direction) * lstm.hidden;
    const float *before = step == 0 ? nullptr : direction == 0 ? y - step_size : y + step_size;
    for (int64_t unit = 0; unit < lstm.hidden; unit += kLanes) {
      const int64_t tile = direction * tiles + unit / kTileUnits, lane = unit % kTileUnits;
      const Place at = {x,
                        before,
                        lstm.weights + tile * tile_size + lane,
                        lstm.bias + tile * kGates * kTileUnits + lane,
                        cells.data() + unit * count,
                        y + unit,
                        std::min<int64_t>(kLanes, lstm.hidden - unit)};
      int64_t row = 0;
      for (; row + kRows <= count; row += kRows) Advance<kLanes, kRows>(lstm, at, row);
      for (; row + 3 <= count; row += 3) Advance<kLanes, 3>(lstm, at, row);
      for (; row < count; row++) Advance<kLanes, 1>(lstm, at, row);
    }
  }
}

using TakeRows = void (*)(const Lstm &, int64_t direction, int64_t first, int64_t count);

__attribute__((target("avx512f,avx512dq,avx512vl,fma"))) inline void TakeRowsAvx512(
    const Lstm &lstm, int64_t direction, int64_t first, int64_t count) {
  TakeThrough<16, 6>(lstm, direction, first, count);
}

__attribute__((target("avx2,fma"))) inline void TakeRowsAvx2(const Lstm &lstm, int64_t direction,
                                                             int64_t first, int64_t count) {
  TakeThrough<8, 3>(lstm, direction, first, count);
}

// Threads of one operation, as TensorFlow has them.
inline int64_t ThreadCount() {
  const char *set = std::getenv("TF_NUM_INTRAOP_THREADS");
  const int64_t wanted = set == nullptr ? 0 : std::atoll(set);
  return wanted > 0 ? wanted : std::max<int64_t>(1, std::thread::hardware_concurrency());
}

inline void ComputeLstm(const Lstm &lstm) {
  const bool is_wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vl");
  const TakeRows take = is_wide ? TakeRowsAvx512 : TakeRowsAvx2;
  const int64_t threads = ThreadCount();
  const int64_t share = (2 * lstm.rows + threads - 1) / threads;
  const int64_t parts = (lstm.rows + std::min(share, kRowsMax) - 1) / std::min(share, kRowsMax);
  const int64_t rows = ((lstm.rows + parts - 1) / parts + 5) / 6 * 6;
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t i = next++; i / 2 * rows < lstm.rows; i = next++) {
      take(lstm, i % 2, i / 2 * rows, std::min(rows, lstm.rows - i / 2 * rows));
    }
  };
  std::vector<std::thread> others;
  for (int64_t i = 1; i < std::min(threads, 2 * parts); i++) others.emplace_back(work);
  work();
  for (std::thread &thread : others) thread.join();
}

struct TensorDeleter {
  void operator()(TF_Tensor *tensor) const { TF_DeleteTensor(tensor); }
};
using OwnedTensor = std::unique_ptr<TF_Tensor, TensorDeleter>;

inline OwnedTensor InputOf(TF_OpKernelContext *context, int index, TF_Status *status) {
  TF_Tensor *tensor = nullptr;
  TF_GetInput(context, index, &tensor, status);
  return OwnedTensor(tensor);
}

inline const float *NumbersOf(const OwnedTensor &tensor) {
  return static_cast<const float *>(TF_TensorData(tensor.get()));
}

// The sizes of the operation's inputs, but for `steps`, `rows` and `dim`; false if they misfit.
inline bool HasFittingSizes(const Lstm &lstm, const OwnedTensor &weights, const OwnedTensor &bias) {
  const int64_t tiles = (lstm.hidden + kTileUnits - 1) / kTileUnits;
  const int64_t units = 2 * tiles * kGates * kTileUnits;
  return lstm.hidden > 0 && TF_TensorElementCount(bias.get()) == units &&
         TF_TensorElementCount(weights.get()) == units * (lstm.dim + lstm.hidden);
}

inline void ComputeOperation(void *, TF_OpKernelContext *context) {
  TF_AutoStatus tf_status;
  TF_Status *status = tf_status.status;
  const OwnedTensor x = InputOf(context, 0, status);
  const OwnedTensor weights = InputOf(context, 1, status);
  const OwnedTensor bias = InputOf(context, 2, status);
  if (!x || !weights || !bias || TF_NumDims(x.get()) != 3 || TF_NumDims(weights.get()) != 5) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "WinnowLstm takes x [steps, rows, dim]");
    return TF_OpKernelContext_Failure(context, status);
  }
  Lstm lstm = {TF_Dim(x.get(), 0),  TF_Dim(x.get(), 1),  TF_Dim(x.get(), 2),
               TF_Dim(weights.get(), 2) - TF_Dim(x.get(), 2),
               NumbersOf(x), NumbersOf(weights), NumbersOf(bias), nullptr};
  if (!HasFittingSizes(lstm, weights, bias)) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "WinnowLstm's weights do not fit its input");
    return TF_OpKernelContext_Failure(context, status);
  }
  const int64_t shape[] = {lstm.steps, lstm.rows, 2 * lstm.hidden};
  const size_t bytes = shape[0] * shape[1] * shape[2] * sizeof(float);
  const OwnedTensor y(TF_AllocateOutput(context, 0, TF_FLOAT, shape, 3, bytes, status));
  if (TF_GetCode(status) != TF_OK) return TF_OpKernelContext_Failure(context, status);
  lstm.y = static_cast<float *>(TF_TensorData(y.get()));
  ComputeLstm(lstm);
}

// Makes the operation known to TensorFlow. Returns whether it did.
inline bool RegisterLstm() {
  TF_AutoStatus tf_status;
  TF_OpDefinitionBuilder *definition = TF_NewOpDefinitionBuilder("WinnowLstm");
  for (const char *input : {"x: float", "weights: float", "bias: float"}) {
    TF_OpDefinitionBuilderAddInput(definition, input);
  }
  TF_OpDefinitionBuilderAddOutput(definition, "y: float");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(
      definition, [](TF_ShapeInferenceContext *context, TF_Status *status) {
        TF_ShapeInferenceContextSetUnknownShape(context, status);
      });
  TF_RegisterOpDefinition(definition, tf_status.status);
  if (TF_GetCode(tf_status.status) != TF_OK) return false;
  TF_KernelBuilder *kernel =
      TF_NewKernelBuilder("WinnowLstm", "CPU", nullptr, ComputeOperation, nullptr);
  TF_RegisterKernelBuilder("WinnowLstm", kernel, tf_status.status);
  return TF_GetCode(tf_status.status) == TF_OK;
}

// Once for each process, as the library is loaded.
static const bool has_lstm = RegisterLstm();

}  // namespace tfnodejs

#endif  // __x86_64__

#endif  // WINNOW_LSTM_H_
