/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Luisa Tile for callers that know no C++: C, and every language that can call C. Kernels come as TileIR text or by the
   name under which C++ has registered them; tensors are made here, wrapped, or imported through DLPack.

   All handles are opaque and may be destroyed in any order; what they share lives as long as one of them. Functions may be
   called from any thread, a handle is destroyed by one. Nothing is thrown: functions that can fail return a status, and
   `luisa_tile_last_error` has the text. Outputs are written on success only. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Raised when a function or a struct below changes in a way that callers must be compiled anew for. */
#define LUISA_TILE_C_API 1
/** Dimensions of a view, at most. */
#define LUISA_TILE_MAX_RANK 6

/** What a function gives: LUISA_TILE_OK or the kind of error. */
typedef int32_t luisa_tile_status;
enum {
    LUISA_TILE_OK = 0,
    LUISA_TILE_SHAPE_ERROR = 1,
    LUISA_TILE_TYPE_ERROR = 2,
    LUISA_TILE_VALUE_ERROR = 3,
    LUISA_TILE_INDEX_ERROR = 4,
    LUISA_TILE_BOUNDS_ERROR = 5,
    LUISA_TILE_OWNERSHIP_ERROR = 6,
    LUISA_TILE_SCOPE_ERROR = 7,
    LUISA_TILE_ALIAS_ERROR = 8,
    LUISA_TILE_ALIGNMENT_ERROR = 9,
    LUISA_TILE_DEVICE_ERROR = 10,
    LUISA_TILE_LIFETIME_ERROR = 11,
    LUISA_TILE_CALL_ERROR = 12,
    LUISA_TILE_CONSTRAINT_ERROR = 13,
    LUISA_TILE_CAPTURE_ERROR = 14,
    LUISA_TILE_PARSE_ERROR = 15,
    LUISA_TILE_VERIFY_ERROR = 16,
    LUISA_TILE_TARGET_ERROR = 17,
    LUISA_TILE_UNSUPPORTED_ERROR = 18,
    LUISA_TILE_COMPILE_ERROR = 19,
    LUISA_TILE_RESOURCE_ERROR = 20,
    LUISA_TILE_DEVICE_UNAVAILABLE = 21,
    LUISA_TILE_STATE_ERROR = 22,
    LUISA_TILE_RACE_ERROR = 23,
    LUISA_TILE_ASSERTION_ERROR = 24,
    LUISA_TILE_INTEROP_ERROR = 25,
    LUISA_TILE_OUT_OF_MEMORY_ERROR = 26,
    LUISA_TILE_INTERNAL_ERROR = 27
};

/** Formats of elements. */
typedef int32_t luisa_tile_type;
enum {
    LUISA_TILE_BOOL = 0,
    LUISA_TILE_INT8 = 1,
    LUISA_TILE_INT16 = 2,
    LUISA_TILE_INT32 = 3,
    LUISA_TILE_INT64 = 4,
    LUISA_TILE_UINT8 = 5,
    LUISA_TILE_UINT16 = 6,
    LUISA_TILE_UINT32 = 7,
    LUISA_TILE_UINT64 = 8,
    LUISA_TILE_FLOAT16 = 9,
    LUISA_TILE_BFLOAT16 = 10,
    LUISA_TILE_FLOAT32 = 11,
    LUISA_TILE_FLOAT64 = 12,
    LUISA_TILE_FLOAT8_E4M3FN = 13,
    LUISA_TILE_FLOAT8_E5M2 = 14
};

/** A place to run kernels. */
typedef struct luisa_tile_device luisa_tile_device;
/** A compiled kernel. */
typedef struct luisa_tile_shader luisa_tile_shader;
/** Memory with extents and strides. */
typedef struct luisa_tile_tensor luisa_tile_tensor;

/** "major.minor.patch" of the library. */
const char *luisa_tile_version(void);
/** LUISA_TILE_C_API of the library that was loaded. */
int32_t luisa_tile_c_api(void);
/** The name of a status, such as "ShapeError"; "OK" for LUISA_TILE_OK. */
const char *luisa_tile_status_name(luisa_tile_status status);
/** What the last call of this thread that failed has to say; "" before the first. Lives until the next failure. */
const char *luisa_tile_last_error(void);
/** The name of a type as in TileIR, such as "f32"; "" for a number that is none. */
const char *luisa_tile_type_name(luisa_tile_type type);

/** Zero is the default of each. */
typedef struct luisa_tile_device_options {
    int32_t threads;  /**< of the CPU; 0: LUISA_TILE_THREADS if set, else every core */
    int32_t validate; /**< not 0: check promises, bounds and races where the device can */
    int32_t no_cache; /**< not 0: compiled kernels are neither kept on disk nor found there */
    const char *cache_directory; /**< null: the usual one */
} luisa_tile_device_options;

/** Opens "cpu", "cuda", "cuda:1", "cuda-emulator" or "interpreter". `options` may be null. */
luisa_tile_status luisa_tile_device_create(const char *name,
                                           const luisa_tile_device_options *options,
                                           luisa_tile_device **out);
/** Null is fine, here and for the other handles. */
void luisa_tile_device_destroy(luisa_tile_device *device);
/** One line on the device; lives as long as the handle. */
luisa_tile_status luisa_tile_device_description(luisa_tile_device *device, const char **out);
/** The type and number that DLPack has for the device's memory: 1 (the CPU) and 0, or 2 (CUDA) and the GPU's number. */
luisa_tile_status luisa_tile_device_dlpack(luisa_tile_device *device, int32_t *type,
                                           int32_t *number);

/** Compiles a kernel from TileIR text. `name` stands for the file in errors and may be null. */
luisa_tile_status luisa_tile_compile(luisa_tile_device *device, const char *text, const char *name,
                                     luisa_tile_shader **out);
/** The same from a file. */
luisa_tile_status luisa_tile_compile_file(luisa_tile_device *device, const char *path,
                                          luisa_tile_shader **out);
void luisa_tile_shader_destroy(luisa_tile_shader *shader);
/** The name of the kernel; lives as long as the handle. */
luisa_tile_status luisa_tile_shader_name(luisa_tile_shader *shader, const char **out);
/** What the planner decided, as `luisa-tile explain` prints it; lives as long as the handle. */
luisa_tile_status luisa_tile_shader_plan(luisa_tile_shader *shader, const char **out);

/** One parameter of a kernel. Its texts live as long as the shader; of a registered kernel they are "". */
typedef struct luisa_tile_parameter {
    const char *name; /**< may be "" */
    int32_t is_view;  /**< 0: a scalar */
    int32_t read_only;
    luisa_tile_type type;
    int32_t rank;                                  /**< of a view */
    int64_t extents[LUISA_TILE_MAX_RANK];          /**< -1: set by each launch */
    const char *extent_names[LUISA_TILE_MAX_RANK]; /**< equal names are one extent */
} luisa_tile_parameter;

luisa_tile_status luisa_tile_shader_parameter_count(luisa_tile_shader *shader, size_t *out);
luisa_tile_status luisa_tile_shader_parameter(luisa_tile_shader *shader, size_t index,
                                              luisa_tile_parameter *out);

/** A dense tensor in new memory of the device, uninitialised. */
luisa_tile_status luisa_tile_tensor_create(luisa_tile_device *device, luisa_tile_type type,
                                           int32_t rank, const int64_t *extents,
                                           luisa_tile_tensor **out);
/** A tensor over memory of the caller, who keeps it until the last work on it is done. `data` is an address of the
    device's memory; `strides` are in elements, null for dense row-major. */
luisa_tile_status luisa_tile_tensor_wrap(luisa_tile_device *device, luisa_tile_type type,
                                         int32_t rank, const int64_t *extents,
                                         const int64_t *strides, void *data, int32_t read_only,
                                         luisa_tile_tensor **out);
/** A tensor over a DLManagedTensor (versioned: DLManagedTensorVersioned), without a copy. `managed` is taken over also
    when this fails: its deleter is called once. Of tensors that are imported, the handle must live until the work on
    them was submitted; its owner must not give the memory to work on other streams before that is done. */
luisa_tile_status luisa_tile_tensor_from_dlpack(luisa_tile_device *device, void *managed,
                                                luisa_tile_tensor **out);
luisa_tile_status luisa_tile_tensor_from_dlpack_versioned(luisa_tile_device *device, void *managed,
                                                          luisa_tile_tensor **out);
/** The tensor for another library as a DLManagedTensor (versioned: DLManagedTensorVersioned); its deleter must be called
    once. The tensor's handle may be destroyed before. Work on it must be waited for first. */
luisa_tile_status luisa_tile_tensor_to_dlpack(luisa_tile_tensor *tensor, void **out);
luisa_tile_status luisa_tile_tensor_to_dlpack_versioned(luisa_tile_tensor *tensor, void **out);
void luisa_tile_tensor_destroy(luisa_tile_tensor *tensor);

/** What a tensor is. Strides are in elements. */
typedef struct luisa_tile_tensor_info {
    luisa_tile_type type;
    int32_t rank;
    int32_t read_only;
    void *data;
    int64_t extents[LUISA_TILE_MAX_RANK];
    int64_t strides[LUISA_TILE_MAX_RANK];
} luisa_tile_tensor_info;
luisa_tile_status luisa_tile_tensor_get_info(luisa_tile_tensor *tensor,
                                             luisa_tile_tensor_info *out);
/** Copies dense row-major host memory of exactly the tensor's elements to it, in the order of the stream; the host's
    memory may be changed when this returns. */
luisa_tile_status luisa_tile_tensor_write(luisa_tile_tensor *tensor, void *stream, const void *host,
                                          size_t bytes);
/** The same from the tensor to the host; done when this returns. */
luisa_tile_status luisa_tile_tensor_read(luisa_tile_tensor *tensor, void *stream, void *host,
                                         size_t bytes);

/** An argument: a tensor, or (where `tensor` is null) a scalar in the lowest bytes of `bits`. */
typedef struct luisa_tile_argument {
    luisa_tile_tensor *tensor;
    uint64_t bits;
} luisa_tile_argument;
/** The bits of a number in a type, rounded to nearest even for floats. LUISA_TILE_VALUE_ERROR for a number that an
    integer type has not, and for the 8-bit floats, which have no numbers of their own. */
luisa_tile_status luisa_tile_scalar_from_double(luisa_tile_type type, double value, uint64_t *bits);
luisa_tile_status luisa_tile_scalar_from_int64(luisa_tile_type type, int64_t value, uint64_t *bits);

/** Checks the arguments and runs a kernel. On CUDA it is started in the order of `stream`, a CUstream or cudaStream_t (null:
    the default stream of CUDA), and what it does wrong is told by a later call on the stream; kernels that print or
    check are waited for. On the other devices `stream` is null and the kernel has run when this returns. */
luisa_tile_status luisa_tile_dispatch(luisa_tile_shader *shader, void *stream,
                                      const luisa_tile_argument *arguments, size_t count);
/** Returns when everything that was submitted to the stream has run. */
luisa_tile_status luisa_tile_synchronize(luisa_tile_device *device, void *stream);

/** How many kernels C++ has registered by name in this process; takes the list that `luisa_tile_registered_name` reads. */
size_t luisa_tile_registered_count(void);
/** A name of the list that this thread took last, in alphabetical order; null beyond it. Lives until the next list. */
const char *luisa_tile_registered_name(size_t index);
luisa_tile_status luisa_tile_registered_parameter_count(const char *name, size_t *out);
luisa_tile_status luisa_tile_registered_parameter(const char *name, size_t index,
                                                  luisa_tile_parameter *out);
/** Runs a registered kernel, which is compiled when the extents and strides of its arguments are new. */
luisa_tile_status luisa_tile_run_registered(luisa_tile_device *device, const char *name,
                                            void *stream, const luisa_tile_argument *arguments,
                                            size_t count);

#ifdef __cplusplus
}
#endif
