// Fakes NVIDIA's management library, with two GPUs and fixed readings. The second supports less, and
// reports two Xids once it is being watched.
#include <cstdint>
#include <cstring>

extern "C" {
struct Memory { uint64_t total, free, used; };
struct Utilization { unsigned gpu, memory; };
struct EventData { void *device; uint64_t type, data; unsigned gpuInstance, computeInstance; };

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, TIMEOUT = 10 };

static const char *const UUIDS[] = {"GPU-aaaa1111-0000", "GPU-bbbb2222-0000"};
static char devices[2];
static char eventSet;
static bool watched[2];
static int events = 0;

static int indexOf(void *device) { return static_cast<char *>(device) - devices; }

int nvmlInit_v2() { return SUCCESS; }
int nvmlShutdown() { return SUCCESS; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return SUCCESS; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  if (index > 1) return NOT_FOUND;
  *device = &devices[index];
  return SUCCESS;
}
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length) {
  strncpy(uuid, UUIDS[indexOf(device)], length);
  return SUCCESS;
}
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) {
  *major = indexOf(device) == 0 ? 9 : 7;
  *minor = indexOf(device) == 0 ? 0 : 5;
  return SUCCESS;
}
int nvmlDeviceGetMemoryInfo(void *device, Memory *memory) {
  uint64_t gibibyte = 1ull << 30;
  *memory = {80 * gibibyte, 50 * gibibyte, (30ull + indexOf(device)) * gibibyte};
  return SUCCESS;
}
int nvmlDeviceGetUtilizationRates(void *device, Utilization *rates) {
  if (indexOf(device) == 1) return NOT_SUPPORTED;
  *rates = {87, 12};
  return SUCCESS;
}
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
  if (indexOf(device) == 1) return NOT_SUPPORTED;
  *milliwatts = 412500;
  return SUCCESS;
}
int nvmlDeviceGetTemperature(void *, int, unsigned *celsius) { *celsius = 61; return SUCCESS; }
int nvmlEventSetCreate(void **set) { *set = &eventSet; return SUCCESS; }
int nvmlDeviceRegisterEvents(void *device, uint64_t types, void *set) {
  if (types != 8 || set != &eventSet) return NOT_SUPPORTED;
  watched[indexOf(device)] = true;
  return SUCCESS;
}
int nvmlEventSetWait_v2(void *set, EventData *data, unsigned) {
  static const uint64_t XIDS[] = {13, 79};
  if (set != &eventSet || !watched[1] || events == 2) return TIMEOUT;
  *data = {&devices[1], 8, XIDS[events++], 0xFFFFFFFF, 0xFFFFFFFF};
  return SUCCESS;
}
}
