// SPDX-License-Identifier: Apache-2.0
// Stands for libcuda.so.1 where there is no GPU: memory is the host's, kernels do nothing, every call is counted
// and can be made to fail. Built as a library of its own that tests name in LUISA_TILE_CUDA_DRIVER; they reach the
// functions called fake_… through dlsym.
#include "fake_cuda.h"

#include "runtime/cuda/driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <string>

using namespace luisa::tile::runtime::cuda;

namespace {

struct Fault {
    int skip = 0, result = 0;
};

struct State {
    std::recursive_mutex mutex;
    std::map<std::string, Fault> faults;
    std::map<std::string, int> calls;
    std::map<DevicePointer, size_t> memory;
    std::map<DevicePointer, size_t> lent;///< memory of the device that others made
    size_t limit = size_t{1} << 30, used = 0;
    int pending = 0;///< what the next wait for the device gives
    int version = 13000, devices = 2, sm = 90;
    int contexts = 0, streams = 0, events = 0, loaded = 0, pinned = 0, pushed = 0;
    FakeLaunch last{};
    double clock_ms = 0;
    bool reads_reports = false;
    std::string log;
};

State &state() {
    static auto &instance = *new State;
    return instance;
}

/// Counts a call; what it returns is the result that the call shall give, if not 0.
int enter(const char *name) {
    auto &s = state();
    ++s.calls[name];
    auto fault = s.faults.find(name);
    if (fault == s.faults.end() || fault->second.skip-- > 0) {
        return 0;
    }
    auto result = fault->second.result;
    s.faults.erase(fault);
    return result;
}

struct Event {
    double time = 0;
};

}// namespace

#define FAKE extern "C" __attribute__((visibility("default")))
// Every call takes the lock and may fail by order of a test.
#define ENTER(name)                                                                                \
    std::lock_guard lock{state().mutex};                                                           \
    if (int ordered = enter(name); ordered != 0) {                                                 \
        return ordered;                                                                            \
    }                                                                                              \
    auto &s = state();                                                                             \
    static_cast<void>(s)

FAKE void fake_reset() {
    auto &s = state();
    std::lock_guard lock{s.mutex};
    s.faults.clear();
    s.calls.clear();
    s.limit = size_t{1} << 30;
    s.pending = 0;
    s.lent.clear();
    s.version = 13000;
    s.devices = 2;
    s.sm = 90;
    s.last = {};
    s.reads_reports = false;
    s.log.clear();
}
FAKE void fake_fail(const char *name, int skip, int result) {
    std::lock_guard lock{state().mutex};
    state().faults[name] = {skip, result};
}
FAKE void fake_fail_device(int result) {
    std::lock_guard lock{state().mutex};
    state().pending = result;
}
FAKE int fake_calls(const char *name) {
    std::lock_guard lock{state().mutex};
    return state().calls[name];
}
FAKE void fake_set_memory(size_t bytes) {
    std::lock_guard lock{state().mutex};
    state().limit = bytes;
}
FAKE void fake_set_machine(int version, int devices, int sm) {
    std::lock_guard lock{state().mutex};
    state().version = version;
    state().devices = devices;
    state().sm = sm;
}
FAKE void fake_lend(const void *address, size_t bytes) {
    std::lock_guard lock{state().mutex};
    state().lent[reinterpret_cast<DevicePointer>(address)] = bytes;
}
FAKE void fake_set_log(const char *text) {
    std::lock_guard lock{state().mutex};
    state().log = text;
}
FAKE void fake_read_reports() {
    std::lock_guard lock{state().mutex};
    state().reads_reports = true;
}
FAKE FakeLaunch fake_last_launch() {
    std::lock_guard lock{state().mutex};
    return state().last;
}
FAKE FakeLive fake_live() {
    std::lock_guard lock{state().mutex};
    auto &s = state();
    return {s.memory.size(), s.used, s.contexts, s.streams, s.events, s.loaded, s.pinned, s.pushed};
}

FAKE int cuInit(unsigned) {
    ENTER("cuInit");
    return s.devices == 0 ? NO_DEVICE : SUCCESS;
}
FAKE int cuDriverGetVersion(int *version) {
    ENTER("cuDriverGetVersion");
    *version = s.version;
    return SUCCESS;
}
FAKE int cuGetErrorName(int result, const char **text) {
    static const std::map<int, const char *> names = {
        {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
        {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"}};
    auto found = names.find(result);
    *text = found == names.end() ? nullptr : found->second;
    return found == names.end() ? INVALID_VALUE : SUCCESS;
}
FAKE int cuGetErrorString(int result, const char **text) {
    static const std::map<int, const char *> texts = {
        {OUT_OF_MEMORY, "out of memory"},
        {ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
        {LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"},
        {INVALID_PTX, "a PTX JIT compilation failed"},
        {INVALID_VALUE, "invalid argument"}};
    auto found = texts.find(result);
    *text = found == texts.end() ? nullptr : found->second;
    return found == texts.end() ? INVALID_VALUE : SUCCESS;
}
FAKE int cuDeviceGetCount(int *count) {
    ENTER("cuDeviceGetCount");
    *count = s.devices;
    return SUCCESS;
}
FAKE int cuDeviceGet(int *device, int ordinal) {
    ENTER("cuDeviceGet");
    *device = ordinal;
    return SUCCESS;
}
FAKE int cuDeviceGetName(char *name, int size, int) {
    ENTER("cuDeviceGetName");
    std::snprintf(name, static_cast<size_t>(size), "Fake GPU");
    return SUCCESS;
}
FAKE int cuDeviceGetAttribute(int *value, int attribute, int) {
    ENTER("cuDeviceGetAttribute");
    switch (attribute) {
        case COMPUTE_CAPABILITY_MAJOR: *value = s.sm / 10; break;
        case COMPUTE_CAPABILITY_MINOR: *value = s.sm % 10; break;
        case THREADS_PER_MULTIPROCESSOR: *value = 2048; break;
        case SHARED_PER_MULTIPROCESSOR: *value = 228 << 10; break;
        case SHARED_PER_BLOCK_OPTIN: *value = 227 << 10; break;
        case REGISTERS_PER_MULTIPROCESSOR: *value = 65536; break;
        case MULTIPROCESSOR_COUNT: *value = 4; break;
        case L2_CACHE_BYTES: *value = 50 << 20; break;
        default: return INVALID_VALUE;
    }
    return SUCCESS;
}
FAKE int cuDeviceTotalMem_v2(size_t *bytes, int) {
    ENTER("cuDeviceTotalMem_v2");
    *bytes = s.limit;
    return SUCCESS;
}
FAKE int cuDevicePrimaryCtxRetain(ContextHandle *context, int device) {
    ENTER("cuDevicePrimaryCtxRetain");
    ++s.contexts;
    *context = reinterpret_cast<ContextHandle>(static_cast<uintptr_t>(device) + 1);
    return SUCCESS;
}
FAKE int cuDevicePrimaryCtxRelease_v2(int) {
    ENTER("cuDevicePrimaryCtxRelease_v2");
    --s.contexts;
    return SUCCESS;
}
FAKE int cuCtxPushCurrent_v2(ContextHandle) {
    ENTER("cuCtxPushCurrent_v2");
    ++s.pushed;
    return SUCCESS;
}
FAKE int cuCtxPopCurrent_v2(ContextHandle *) {
    ENTER("cuCtxPopCurrent_v2");
    --s.pushed;
    return SUCCESS;
}
FAKE int cuCtxSynchronize() {
    ENTER("cuCtxSynchronize");
    return s.pending;
}
FAKE int cuMemGetInfo_v2(size_t *free, size_t *total) {
    ENTER("cuMemGetInfo_v2");
    *free = s.limit - s.used;
    *total = s.limit;
    return SUCCESS;
}
FAKE int cuPointerGetAttribute(void *value, int attribute, DevicePointer pointer) {
    ENTER("cuPointerGetAttribute");
    auto holds = [&](const std::map<DevicePointer, size_t> &memory) {
        auto next = memory.upper_bound(pointer);
        return next != memory.begin() && pointer < std::prev(next)->first + std::prev(next)->second;
    };
    if (attribute != 2 || (!holds(s.memory) && !holds(s.lent))) {
        return INVALID_VALUE;
    }
    *static_cast<unsigned *>(value) = 2;
    return SUCCESS;
}
FAKE int cuMemAlloc_v2(DevicePointer *pointer, size_t bytes) {
    ENTER("cuMemAlloc_v2");
    if (bytes > s.limit - s.used) {
        return OUT_OF_MEMORY;
    }
    *pointer = reinterpret_cast<DevicePointer>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    std::memset(reinterpret_cast<void *>(*pointer), 0xcd, bytes);
    s.memory[*pointer] = bytes;
    s.used += bytes;
    return SUCCESS;
}
FAKE int cuMemFree_v2(DevicePointer pointer) {
    ENTER("cuMemFree_v2");
    auto found = s.memory.find(pointer);
    if (found == s.memory.end()) {
        return INVALID_VALUE;
    }
    s.used -= found->second;
    s.memory.erase(found);
    std::free(reinterpret_cast<void *>(pointer));
    return SUCCESS;
}
FAKE int cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
    ENTER("cuMemHostAlloc");
    *pointer = std::malloc(bytes);
    ++s.pinned;
    return SUCCESS;
}
FAKE int cuMemFreeHost(void *pointer) {
    ENTER("cuMemFreeHost");
    std::free(pointer);
    --s.pinned;
    return SUCCESS;
}
FAKE int cuMemcpyHtoDAsync_v2(DevicePointer to, const void *from, size_t bytes, StreamHandle) {
    ENTER("cuMemcpyHtoDAsync_v2");
    std::memcpy(reinterpret_cast<void *>(to), from, bytes);
    return SUCCESS;
}
FAKE int cuMemcpyDtoHAsync_v2(void *to, DevicePointer from, size_t bytes, StreamHandle) {
    ENTER("cuMemcpyDtoHAsync_v2");
    std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
    return SUCCESS;
}
FAKE int cuMemcpy2DAsync_v2(const Copy2D *copy, StreamHandle) {
    ENTER("cuMemcpy2DAsync_v2");
    bool from_host = copy->source_kind == HOST_MEMORY;
    auto *from = from_host ? static_cast<const char *>(copy->source_host)
                           : reinterpret_cast<const char *>(copy->source_device);
    auto *to = from_host ? reinterpret_cast<char *>(copy->target_device)
                         : static_cast<char *>(copy->target_host);
    if (copy->width > copy->source_pitch || copy->width > copy->target_pitch) {
        return INVALID_VALUE;
    }
    for (size_t row = 0; row < copy->height; ++row) {
        std::memcpy(to + row * copy->target_pitch, from + row * copy->source_pitch, copy->width);
    }
    return SUCCESS;
}
FAKE int cuMemsetD8Async(DevicePointer to, unsigned char value, size_t bytes, StreamHandle) {
    ENTER("cuMemsetD8Async");
    std::memset(reinterpret_cast<void *>(to), value, bytes);
    return SUCCESS;
}
FAKE int cuStreamCreate(StreamHandle *stream, unsigned) {
    ENTER("cuStreamCreate");
    *stream = reinterpret_cast<StreamHandle>(static_cast<uintptr_t>(0x1000 + s.streams++));
    return SUCCESS;
}
FAKE int cuStreamDestroy_v2(StreamHandle) {
    ENTER("cuStreamDestroy_v2");
    --s.streams;
    return SUCCESS;
}
FAKE int cuStreamSynchronize(StreamHandle) {
    ENTER("cuStreamSynchronize");
    return s.pending;
}
FAKE int cuStreamWaitEvent(StreamHandle, EventHandle, unsigned) {
    ENTER("cuStreamWaitEvent");
    return SUCCESS;
}
FAKE int cuEventCreate(EventHandle *event, unsigned) {
    ENTER("cuEventCreate");
    *event = reinterpret_cast<EventHandle>(new Event);
    ++s.events;
    return SUCCESS;
}
FAKE int cuEventDestroy_v2(EventHandle event) {
    ENTER("cuEventDestroy_v2");
    delete reinterpret_cast<Event *>(event);
    --s.events;
    return SUCCESS;
}
FAKE int cuEventRecord(EventHandle event, StreamHandle) {
    ENTER("cuEventRecord");
    reinterpret_cast<Event *>(event)->time = s.clock_ms;
    return SUCCESS;
}
FAKE int cuEventQuery(EventHandle) {
    ENTER("cuEventQuery");
    return s.pending;
}
FAKE int cuEventSynchronize(EventHandle) {
    ENTER("cuEventSynchronize");
    return s.pending;
}
FAKE int cuEventElapsedTime(float *milliseconds, EventHandle start, EventHandle end) {
    ENTER("cuEventElapsedTime");
    *milliseconds = static_cast<float>(reinterpret_cast<Event *>(end)->time -
                                       reinterpret_cast<Event *>(start)->time);
    return SUCCESS;
}
FAKE int cuModuleLoadData(ModuleHandle *module, const void *image) {
    ENTER("cuModuleLoadData");
    if (std::memcmp(image, "fake cubin", 10) != 0) {
        return INVALID_IMAGE;
    }
    *module = reinterpret_cast<ModuleHandle>(static_cast<uintptr_t>(0x2000 + s.loaded++));
    return SUCCESS;
}
FAKE int cuModuleUnload(ModuleHandle) {
    ENTER("cuModuleUnload");
    --s.loaded;
    return SUCCESS;
}
FAKE int cuModuleGetFunction(FunctionHandle *function, ModuleHandle, const char *name) {
    ENTER("cuModuleGetFunction");
    *function = reinterpret_cast<FunctionHandle>(const_cast<char *>(name));
    return SUCCESS;
}
FAKE int cuFuncGetAttribute(int *value, int attribute, FunctionHandle) {
    ENTER("cuFuncGetAttribute");
    *value = attribute == FUNCTION_REGISTERS ? 32 : 0;
    return SUCCESS;
}
FAKE int cuFuncSetAttribute(FunctionHandle, int, int) {
    ENTER("cuFuncSetAttribute");
    return SUCCESS;
}
FAKE int cuLaunchKernel(FunctionHandle, unsigned grid, unsigned, unsigned, unsigned threads,
                        unsigned, unsigned, unsigned shared, StreamHandle, void **arguments,
                        void **) {
    ENTER("cuLaunchKernel");
    const auto *words = static_cast<const uint64_t *>(arguments[0]);
    auto scratch = *static_cast<uint64_t *>(arguments[1]);
    s.last = {grid, threads, shared, words[0], 0, scratch};
    // Kernels of the tests have one word; the report buffer's address follows it.
    if (s.reads_reports) {
        s.last.report_buffer = words[1];
    }
    s.clock_ms += 1;
    return SUCCESS;
}
FAKE int cuLinkCreate_v2(unsigned count, int *names, void **values, LinkHandle *link) {
    ENTER("cuLinkCreate_v2");
    for (unsigned i = 0; i < count; ++i) {
        if (names[i] == LINK_ERROR_LOG && !s.log.empty()) {
            std::strcpy(static_cast<char *>(values[i]), s.log.c_str());
        }
    }
    *link = reinterpret_cast<LinkHandle>(uintptr_t{1});
    return SUCCESS;
}
FAKE int cuLinkAddData_v2(LinkHandle, int, void *data, size_t bytes, const char *, unsigned, int *,
                          void **) {
    ENTER("cuLinkAddData_v2");
    return static_cast<const char *>(data)[bytes - 1] == 0 ? SUCCESS : INVALID_PTX;
}
FAKE int cuLinkComplete(LinkHandle, void **image, size_t *bytes) {
    ENTER("cuLinkComplete");
    static char made[] = "fake cubin";
    *image = made;
    *bytes = sizeof made;
    return SUCCESS;
}
FAKE int cuLinkDestroy(LinkHandle) {
    ENTER("cuLinkDestroy");
    return SUCCESS;
}
