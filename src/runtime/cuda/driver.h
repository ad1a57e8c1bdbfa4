// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

// The part of NVIDIA's driver interface that is used here, from libcuda.so.1 as it is found at run time.

namespace luisa::tile::runtime::cuda {

// Handles; what they point to is the driver's.
using ContextHandle = struct ContextOfDriver *;
using ModuleHandle = struct ModuleOfDriver *;
using FunctionHandle = struct FunctionOfDriver *;
using StreamHandle = struct StreamOfDriver *;
using EventHandle = struct EventOfDriver *;
using LinkHandle = struct LinkOfDriver *;
using DevicePointer = uint64_t;

/// Results that are told apart; every other one but SUCCESS is an error too.
enum Result : int {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_IMAGE = 200,
    NO_BINARY_FOR_GPU = 209,
    INVALID_PTX = 218,
    UNSUPPORTED_PTX_VERSION = 222,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    LAUNCH_FAILED = 719,
};

/// Numbers of cuDeviceGetAttribute.
enum DeviceAttribute : int {
    MAX_THREADS_PER_BLOCK = 1,
    MULTIPROCESSOR_COUNT = 16,
    CLOCK_RATE_KHZ = 13,
    L2_CACHE_BYTES = 38,
    THREADS_PER_MULTIPROCESSOR = 39,
    COMPUTE_CAPABILITY_MAJOR = 75,
    COMPUTE_CAPABILITY_MINOR = 76,
    SHARED_PER_MULTIPROCESSOR = 81,
    REGISTERS_PER_MULTIPROCESSOR = 82,
    SHARED_PER_BLOCK_OPTIN = 97,
};

/// Numbers of cuFuncGetAttribute and cuFuncSetAttribute.
enum FunctionAttribute : int {
    FUNCTION_MAX_THREADS = 0,
    FUNCTION_LOCAL_BYTES = 3,
    FUNCTION_REGISTERS = 4,
    FUNCTION_DYNAMIC_SHARED_BYTES = 8,
};

/// Numbers of cuPointerGetAttribute, which knows no memory that the host got elsewhere.
enum PointerAttribute : int { MEMORY_TYPE = 2 };

/// Numbers of cuLink… options and inputs.
enum LinkOption : int {
    LINK_ERROR_LOG = 5,
    LINK_ERROR_LOG_BYTES = 6,
    LINK_TARGET_FROM_CONTEXT = 8,
};
enum LinkInput : int { LINK_PTX = 1 };

enum MemoryKind : unsigned { HOST_MEMORY = 1, DEVICE_MEMORY = 2 };

/// A rectangle of bytes, as cuMemcpy2D takes it.
struct Copy2D {
    size_t source_x = 0, source_y = 0;
    unsigned source_kind = 0;
    const void *source_host = nullptr;
    DevicePointer source_device = 0;
    void *source_array = nullptr;
    size_t source_pitch = 0;
    size_t target_x = 0, target_y = 0;
    unsigned target_kind = 0;
    void *target_host = nullptr;
    DevicePointer target_device = 0;
    void *target_array = nullptr;
    size_t target_pitch = 0;
    size_t width = 0, height = 0;
};

/// The driver's functions, by what they are called without "cu".
struct Driver {
    int (*init)(unsigned flags);
    int (*driver_get_version)(int *version);
    int (*get_error_name)(int result, const char **text);
    int (*get_error_string)(int result, const char **text);
    int (*device_get_count)(int *count);
    int (*device_get)(int *device, int ordinal);
    int (*device_get_name)(char *name, int size, int device);
    int (*device_get_attribute)(int *value, int attribute, int device);
    int (*device_total_mem)(size_t *bytes, int device);
    int (*primary_context_retain)(ContextHandle *context, int device);
    int (*primary_context_release)(int device);
    int (*context_push)(ContextHandle context);
    int (*context_pop)(ContextHandle *context);
    int (*context_synchronize)();
    int (*pointer_get_attribute)(void *value, int attribute, DevicePointer pointer);
    int (*mem_get_info)(size_t *free, size_t *total);
    int (*mem_alloc)(DevicePointer *pointer, size_t bytes);
    int (*mem_free)(DevicePointer pointer);
    int (*mem_host_alloc)(void **pointer, size_t bytes, unsigned flags);
    int (*mem_free_host)(void *pointer);
    int (*memcpy_to_device)(DevicePointer to, const void *from, size_t bytes, StreamHandle stream);
    int (*memcpy_to_host)(void *to, DevicePointer from, size_t bytes, StreamHandle stream);
    int (*memcpy_2d)(const Copy2D *copy, StreamHandle stream);
    int (*memset_d8)(DevicePointer to, unsigned char value, size_t bytes, StreamHandle stream);
    int (*stream_create)(StreamHandle *stream, unsigned flags);
    int (*stream_destroy)(StreamHandle stream);
    int (*stream_synchronize)(StreamHandle stream);
    int (*stream_wait_event)(StreamHandle stream, EventHandle event, unsigned flags);
    int (*event_create)(EventHandle *event, unsigned flags);
    int (*event_destroy)(EventHandle event);
    int (*event_record)(EventHandle event, StreamHandle stream);
    int (*event_query)(EventHandle event);
    int (*event_synchronize)(EventHandle event);
    int (*event_elapsed_time)(float *milliseconds, EventHandle start, EventHandle end);
    int (*module_load_data)(ModuleHandle *module, const void *image);
    int (*module_unload)(ModuleHandle module);
    int (*module_get_function)(FunctionHandle *function, ModuleHandle module, const char *name);
    int (*function_get_attribute)(int *value, int attribute, FunctionHandle function);
    int (*function_set_attribute)(FunctionHandle function, int attribute, int value);
    int (*launch_kernel)(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z,
                         unsigned shared_bytes, StreamHandle stream, void **arguments,
                         void **extra);
    int (*link_create)(unsigned options, int *names, void **values, LinkHandle *link);
    int (*link_add_data)(LinkHandle link, int input, void *data, size_t bytes, const char *name,
                         unsigned options, int *names, void **values);
    int (*link_complete)(LinkHandle link, void **image, size_t *bytes);
    int (*link_destroy)(LinkHandle link);

    int version = 0;///< 13000 is 13.0

    /// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"
    [[nodiscard]] std::string text(int result) const;
};

/// The driver, initialised, from LUISA_TILE_CUDA_DRIVER (a path, for tests and unusual installations) or else as
/// libcuda.so.1. Loaded once and kept. DeviceUnavailable with what to do when there is none or it is too old.
[[nodiscard]] const Driver &driver();

}// namespace luisa::tile::runtime::cuda
