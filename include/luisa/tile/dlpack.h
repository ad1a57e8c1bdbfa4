// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/tensor.h>

#include <cstdint>

// Tensors of other libraries, and ours for them, through DLPack: a C layout of tensors that NumPy, PyTorch, JAX and
// others exchange without a copy.

namespace luisa::tile {

namespace dlpack {

// The layouts of DLPack 1.x and of the unversioned form before it. They are those of `dlpack.h`, under names that do
// not meet it: a pointer of the one is a pointer of the other (`reinterpret_cast`).

/// Where memory lies. Other numbers of DLPack are devices that we have not.
enum DeviceType : int32_t {
    CPU = 1,
    CUDA = 2,
    CUDA_HOST = 3,///< pinned memory of the host
    CUDA_MANAGED = 13,
};
struct DeviceId {
    int32_t type = CPU;
    int32_t number = 0;
};

/// What the bits of an element are. Other numbers of DLPack are formats that we have not.
enum TypeCode : uint8_t {
    INT = 0,
    UINT = 1,
    FLOAT = 2,
    BFLOAT = 4,
    BOOL = 6,
    FLOAT8_E4M3FN = 10,
    FLOAT8_E5M2 = 12,
};
struct ElementType {
    uint8_t code = FLOAT;
    uint8_t bits = 32;
    uint16_t lanes = 1;
};

struct TensorInfo {
    void *data = nullptr;
    DeviceId device;
    int32_t rank = 0;
    ElementType type;
    int64_t *extents = nullptr;
    int64_t *strides = nullptr;///< in elements; null: dense row-major
    uint64_t byte_offset = 0;  ///< from `data` to the element at the origin
};

/// DLManagedTensor.
struct Managed {
    TensorInfo tensor;
    void *context = nullptr;
    void (*deleter)(Managed *self) = nullptr;///< null: nothing to free
};

struct Version {
    uint32_t major = 1, minor = 0;
};
enum Flags : uint64_t {
    READ_ONLY = 1,
    IS_COPY = 2,
};

/// DLManagedTensorVersioned.
struct ManagedVersioned {
    Version version;
    void *context = nullptr;
    void (*deleter)(ManagedVersioned *self) = nullptr;///< null: nothing to free
    uint64_t flags = 0;
    TensorInfo tensor;
};

/// The number that DLPack has for a type.
[[nodiscard]] ElementType element_type(ScalarType type) noexcept;
/// The type for a number of DLPack. TypeError that lists what there is, also for several lanes.
[[nodiscard]] ScalarType scalar_type(ElementType type, SourceLoc loc = SourceLoc::current());
/// Where DLPack says that tensors of a device lie: `cpu` for all that is in the host's memory.
[[nodiscard]] DeviceId device_id(const Device &device);

}// namespace dlpack

namespace runtime {

/// What a dispatch takes of a tensor of DLPack; its owner calls the deleter. Any number of dimensions up to six but none.
[[nodiscard]] Argument import_dlpack(const Device &device, dlpack::ManagedVersioned *managed,
                                     SourceLoc loc);
[[nodiscard]] Argument import_dlpack(const Device &device, dlpack::Managed *managed, SourceLoc loc);
[[nodiscard]] dlpack::ManagedVersioned *export_versioned(const Device &device,
                                                         const Argument &tensor, SourceLoc loc);
[[nodiscard]] dlpack::Managed *export_unversioned(const Device &device, const Argument &tensor,
                                                  SourceLoc loc);
/// InteropError unless the argument has that element type, rank and permission to write.
void check_import(const Argument &tensor, ScalarType type, int rank, bool read_only, SourceLoc loc);

template<class T, int R> [[nodiscard]] Tensor<T, R> imported(Argument a, SourceLoc loc) {
    check_import(a, scalar_type_of<std::remove_const_t<T>>, R, std::is_const_v<T>, loc);
    typename Tensor<T, R>::Extents extents{}, strides{};
    for (size_t i = 0; i < extents.size(); ++i) {
        extents[i] = a.extents[i];
        strides[i] = a.strides[i];
    }
    return {std::move(a.owner), static_cast<T *>(a.data), extents, strides};
}

}// namespace runtime

/// A tensor over the memory of another library's; nothing is copied. The tensor takes over `managed`: the deleter is
/// called once, when the last tensor and command that use the memory are done, or before an error is thrown. What is
/// marked read-only needs a `const` element type. Strides may be null (dense), zero or negative. Throws
///   ValueError        `managed` is null, or its extents and strides make no sense
///   InteropError      another version, rank or element type than asked for, no dimension, read-only memory
///   TypeError         an element type that the language has not, or elements of several lanes
///   DeviceError       memory that the device cannot reach
///   AlignmentError    an address that is no multiple of the element's size
/// Work that another stream still does on the memory must be waited for first; `__dlpack__(stream=…)` does that.
template<class T, int R>
[[nodiscard]] Tensor<T, R> from_dlpack(const Device &device, dlpack::ManagedVersioned *managed,
                                       SourceLoc loc = SourceLoc::current()) {
    return runtime::imported<T, R>(runtime::import_dlpack(device, managed, loc), loc);
}
/// The same for the form before version 1, which cannot say that memory is read-only.
template<class T, int R>
[[nodiscard]] Tensor<T, R> from_dlpack(const Device &device, dlpack::Managed *managed,
                                       SourceLoc loc = SourceLoc::current()) {
    return runtime::imported<T, R>(runtime::import_dlpack(device, managed, loc), loc);
}

/// The tensor for another library, which calls the deleter once when it is done; until then the memory lives. Of a
/// tensor over memory of the caller, the caller keeps it. A `const` tensor is marked read-only. Work that was
/// submitted must be waited for first. LifetimeError for a tensor without memory.
template<class T, int R>
[[nodiscard]] dlpack::ManagedVersioned *to_dlpack(const Device &device, const Tensor<T, R> &tensor,
                                                  SourceLoc loc = SourceLoc::current()) {
    return runtime::export_versioned(device, tensor.argument(), loc);
}
/// The same in the form before version 1, for libraries that know no other. InteropError for a `const` tensor.
template<class T, int R>
[[nodiscard]] dlpack::Managed *to_dlpack_unversioned(const Device &device,
                                                     const Tensor<T, R> &tensor,
                                                     SourceLoc loc = SourceLoc::current()) {
    return runtime::export_unversioned(device, tensor.argument(), loc);
}

}// namespace luisa::tile
