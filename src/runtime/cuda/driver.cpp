// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/driver.h"

#include <luisa/tile/error.h>

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

namespace luisa::tile::runtime::cuda {

namespace {

constexpr const char *usual_name = "libcuda.so.1";
// The first that assembles code for sm_80.
constexpr int oldest_version = 11000;
constexpr const char *advice = "; install NVIDIA's driver, or use \"cpu\"";

[[noreturn]] void unavailable(const std::string &why) {
    throw DeviceUnavailable{"Device::create(\"cuda\"): " + why};
}

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

struct Symbols {
    void *library;
    const std::string &path;

    template<class F> void find(F *&function, const char *name) const {
        void *address = dlsym(library, name);
        if (!address) {
            unavailable(
                path + " has no " + name +
                ": this driver is older than CUDA 11.0; install a newer one, or use \"cpu\"");
        }
        static_assert(sizeof(function) == sizeof(address));
        std::memcpy(&function, &address, sizeof(address));
    }
};

void find_all(Driver &d, const Symbols &s) {
    s.find(d.init, "cuInit");
    s.find(d.driver_get_version, "cuDriverGetVersion");
    s.find(d.get_error_name, "cuGetErrorName");
    s.find(d.get_error_string, "cuGetErrorString");
    s.find(d.device_get_count, "cuDeviceGetCount");
    s.find(d.device_get, "cuDeviceGet");
    s.find(d.device_get_name, "cuDeviceGetName");
    s.find(d.device_get_attribute, "cuDeviceGetAttribute");
    s.find(d.device_total_mem, "cuDeviceTotalMem_v2");
    s.find(d.primary_context_retain, "cuDevicePrimaryCtxRetain");
    s.find(d.primary_context_release, "cuDevicePrimaryCtxRelease_v2");
    s.find(d.context_push, "cuCtxPushCurrent_v2");
    s.find(d.context_pop, "cuCtxPopCurrent_v2");
    s.find(d.context_synchronize, "cuCtxSynchronize");
    s.find(d.pointer_get_attribute, "cuPointerGetAttribute");
    s.find(d.mem_get_info, "cuMemGetInfo_v2");
    s.find(d.mem_alloc, "cuMemAlloc_v2");
    s.find(d.mem_free, "cuMemFree_v2");
    s.find(d.mem_host_alloc, "cuMemHostAlloc");
    s.find(d.mem_free_host, "cuMemFreeHost");
    s.find(d.memcpy_to_device, "cuMemcpyHtoDAsync_v2");
    s.find(d.memcpy_to_host, "cuMemcpyDtoHAsync_v2");
    s.find(d.memcpy_2d, "cuMemcpy2DAsync_v2");
    s.find(d.memset_d8, "cuMemsetD8Async");
    s.find(d.stream_create, "cuStreamCreate");
    s.find(d.stream_destroy, "cuStreamDestroy_v2");
    s.find(d.stream_synchronize, "cuStreamSynchronize");
    s.find(d.stream_wait_event, "cuStreamWaitEvent");
    s.find(d.event_create, "cuEventCreate");
    s.find(d.event_destroy, "cuEventDestroy_v2");
    s.find(d.event_record, "cuEventRecord");
    s.find(d.event_query, "cuEventQuery");
    s.find(d.event_synchronize, "cuEventSynchronize");
    s.find(d.event_elapsed_time, "cuEventElapsedTime");
    s.find(d.module_load_data, "cuModuleLoadData");
    s.find(d.module_unload, "cuModuleUnload");
    s.find(d.module_get_function, "cuModuleGetFunction");
    s.find(d.function_get_attribute, "cuFuncGetAttribute");
    s.find(d.function_set_attribute, "cuFuncSetAttribute");
    s.find(d.launch_kernel, "cuLaunchKernel");
    s.find(d.link_create, "cuLinkCreate_v2");
    s.find(d.link_add_data, "cuLinkAddData_v2");
    s.find(d.link_complete, "cuLinkComplete");
    s.find(d.link_destroy, "cuLinkDestroy");
}

std::unique_ptr<const Driver> load(const std::string &path) {
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        auto found = path == usual_name
                         ? std::string{"no NVIDIA driver: "} + path + " not found"
                         : "LUISA_TILE_CUDA_DRIVER names '" + path + "', which cannot be loaded";
        unavailable(found + advice);
    }
    auto loaded = std::make_unique<Driver>();
    Symbols symbols{library, path};
    // First what tells an old driver, so that the message is about its version.
    symbols.find(loaded->driver_get_version, "cuDriverGetVersion");
    if (loaded->driver_get_version(&loaded->version) != SUCCESS) {
        loaded->version = 0;
    }
    if (loaded->version < oldest_version) {
        unavailable("the NVIDIA driver is for CUDA " + version_text(loaded->version) +
                    ", expected 11.0 or later; install a newer one, or use \"cpu\"");
    }
    find_all(*loaded, symbols);
    if (auto result = loaded->init(0); result == NO_DEVICE) {
        unavailable(std::string{"no NVIDIA GPU: the driver finds no device"} +
                    "; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use \"cpu\"");
    } else if (result != SUCCESS) {
        unavailable("the NVIDIA driver does not start: " + loaded->text(result) +
                    "; check nvidia-smi, or use \"cpu\"");
    }
    return loaded;
}

}// namespace

std::string Driver::text(int result) const {
    const char *name = nullptr, *meaning = nullptr;
    if (get_error_string(result, &meaning) != SUCCESS || !meaning) {
        meaning = "unknown error";
    }
    if (get_error_name(result, &name) != SUCCESS || !name) {
        return std::string{meaning} + " (" + std::to_string(result) + ")";
    }
    return std::string{meaning} + " (" + name + ")";
}

const Driver &driver() {
    static std::mutex mutex;
    // Never unloaded: handles may live as long as the process.
    static auto &known = *new std::map<std::string, std::unique_ptr<const Driver>>;
    const char *chosen = std::getenv("LUISA_TILE_CUDA_DRIVER");
    std::string path = chosen && *chosen ? chosen : usual_name;
    std::lock_guard lock{mutex};
    auto &entry = known[path];
    if (!entry) {
        entry = load(path);
    }
    return *entry;
}

}// namespace luisa::tile::runtime::cuda
