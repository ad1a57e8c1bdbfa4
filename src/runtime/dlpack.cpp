// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/dlpack.h>

#include "runtime/device.h"
#include "runtime/overlap.h"

#include <algorithm>
#include <limits>

namespace luisa::tile {

namespace {

using namespace dlpack;

struct Row {
    ScalarType type;
    uint8_t code, bits;
};
constexpr Row rows[] = {
    {ScalarType::BOOL, BOOL, 8},
    {ScalarType::INT8, INT, 8},
    {ScalarType::INT16, INT, 16},
    {ScalarType::INT32, INT, 32},
    {ScalarType::INT64, INT, 64},
    {ScalarType::UINT8, UINT, 8},
    {ScalarType::UINT16, UINT, 16},
    {ScalarType::UINT32, UINT, 32},
    {ScalarType::UINT64, UINT, 64},
    {ScalarType::FLOAT16, FLOAT, 16},
    {ScalarType::BFLOAT16, BFLOAT, 16},
    {ScalarType::FLOAT32, FLOAT, 32},
    {ScalarType::FLOAT64, FLOAT, 64},
    {ScalarType::FLOAT8_E4M3FN, FLOAT8_E4M3FN, 8},
    {ScalarType::FLOAT8_E5M2, FLOAT8_E5M2, 8},
};
static_assert(std::size(rows) == scalar_type_count);

constexpr const char *code_names[] = {"int",
                                      "uint",
                                      "float",
                                      "opaque handle",
                                      "bfloat",
                                      "complex",
                                      "bool",
                                      "float8_e3m4",
                                      "float8_e4m3",
                                      "float8_e4m3b11fnuz",
                                      "float8_e4m3fn",
                                      "float8_e4m3fnuz",
                                      "float8_e5m2",
                                      "float8_e5m2fnuz",
                                      "float8_e8m0fnu",
                                      "float6_e2m3fn",
                                      "float6_e3m2fn",
                                      "float4_e2m1fn"};

std::string type_text(ElementType type) {
    auto text = type.code < std::size(code_names) ? std::string{code_names[type.code]}
                                                  : "code " + std::to_string(type.code);
    text += " of " + std::to_string(type.bits) + " bits";
    return type.lanes == 1 ? text : text + " in " + std::to_string(type.lanes) + " lanes";
}

/// What DLPack calls a place.
std::string device_text(DeviceId id) {
    const char *name = id.type == CPU            ? "the CPU"
                       : id.type == CUDA         ? "CUDA device "
                       : id.type == CUDA_HOST    ? "pinned memory of the host"
                       : id.type == CUDA_MANAGED ? "managed memory of CUDA"
                                                 : nullptr;
    if (!name) {
        return "a device of DLPack's type " + std::to_string(id.type);
    }
    return id.type == CUDA ? name + std::to_string(id.number) : name;
}

void check_device(const Device &device, DeviceId id, SourceLoc loc) {
    auto own = device_id(device);
    bool reached = own.type == CUDA
                       ? (id.type == CUDA && id.number == own.number) || id.type == CUDA_MANAGED
                       : id.type == CPU || id.type == CUDA_HOST;
    if (!reached) {
        throw DeviceError{"from_dlpack: the tensor is on " + device_text(id) + ", device '" +
                              device.name() + "' takes tensors on " + device_text(own) +
                              "; move it there first",
                          loc};
    }
}

void read_extents(const TensorInfo &t, runtime::Argument &a, SourceLoc loc) {
    if (t.rank < 1 || t.rank > runtime::Argument::max_rank) {
        throw InteropError{"from_dlpack: the tensor has " + std::to_string(t.rank) +
                               " dimensions, views have 1 to " +
                               std::to_string(runtime::Argument::max_rank) +
                               (t.rank == 0 ? "; reshape it to one element" : ""),
                           loc};
    }
    if (!t.extents) {
        throw ValueError{"from_dlpack: the tensor has no extents (a null shape)", loc};
    }
    a.rank = t.rank;
    std::copy_n(t.extents, t.rank, a.extents);
    static_cast<void>(runtime::checked_bytes(a.extents, a.rank, size_of(a.type), loc));
    uint64_t dense = 1;
    for (int d = a.rank; d-- > 0;) {
        a.strides[d] = t.strides ? t.strides[d] : static_cast<int64_t>(dense);
        dense *= static_cast<uint64_t>(std::max<int64_t>(a.extents[d], 1));
    }
}

void check_memory(const runtime::Argument &a, SourceLoc loc) {
    bool empty = std::find(a.extents, a.extents + a.rank, 0) != a.extents + a.rank;
    if (empty) {
        return;
    }
    if (!a.data) {
        throw ValueError{"from_dlpack: the tensor has elements but no memory (null data)", loc};
    }
    if (runtime::reach_of(a) > std::numeric_limits<int64_t>::max()) {
        throw ValueError{"from_dlpack: the strides reach beyond the range of int64", loc};
    }
    auto address = reinterpret_cast<uintptr_t>(a.data);
    if (address % size_of(a.type) != 0) {
        throw AlignmentError{"from_dlpack: the tensor's address is a multiple of " +
                                 std::to_string(address & -address) + ", not of the " +
                                 std::to_string(size_of(a.type)) + " bytes of one " +
                                 to_string(a.type) + "; copy it to memory of its own",
                             loc};
    }
}

runtime::Argument read(const Device &device, const TensorInfo &t, bool read_only,
                       std::shared_ptr<void> owner, SourceLoc loc) {
    check_device(device, t.device, loc);
    runtime::Argument a;
    a.is_view = true;
    a.read_only = read_only;
    a.type = scalar_type(t.type, loc);
    a.owner = std::move(owner);
    read_extents(t, a, loc);
    a.data = t.data ? static_cast<char *>(t.data) + t.byte_offset : nullptr;
    check_memory(a, loc);
    return a;
}

/// Calls the deleter when the last holder goes.
template<class M> std::shared_ptr<void> owner_of(M *managed) {
    return {managed, [](M *m) {
                if (m->deleter) {
                    m->deleter(m);
                }
            }};
}

template<class M> M *not_null(M *managed, SourceLoc loc) {
    if (!managed) {
        throw ValueError{"from_dlpack: the managed tensor is null", loc};
    }
    return managed;
}

/// An exported tensor with what its pointers point to.
template<class M> struct Exported {
    M managed;
    int64_t extents[runtime::Argument::max_rank], strides[runtime::Argument::max_rank];
    std::shared_ptr<void> owner;
};

template<class M> M *export_as(const Device &device, const runtime::Argument &a, SourceLoc loc) {
    auto id = device_id(device);
    if (!a.alive) {
        throw LifetimeError{"to_dlpack: the tensor was moved from, freed or never made", loc};
    }
    auto exported = std::make_unique<Exported<M>>();
    exported->owner = a.owner;
    std::copy_n(a.extents, a.rank, exported->extents);
    std::copy_n(a.strides, a.rank, exported->strides);
    auto &m = exported->managed;
    m.tensor = {a.data, id, a.rank, element_type(a.type), exported->extents, exported->strides, 0};
    m.context = exported.get();
    m.deleter = [](M *self) { delete static_cast<Exported<M> *>(self->context); };
    return &exported.release()->managed;
}

}// namespace

namespace dlpack {

ElementType element_type(ScalarType type) noexcept {
    const auto *row = std::find_if(std::begin(rows), std::end(rows),
                                   [&](const Row &r) { return r.type == type; });
    return {row->code, row->bits, 1};
}

ScalarType scalar_type(ElementType type, SourceLoc loc) {
    for (const auto &row : rows) {
        if (row.code == type.code && row.bits == type.bits && type.lanes == 1) {
            return row.type;
        }
    }
    throw TypeError{"from_dlpack: no element type is " + type_text(type) +
                        "; there are bool, integers of 8 to 64 bits, float of 16 to 64 bits, "
                        "bfloat of 16 bits, float8_e4m3fn and float8_e5m2, each in one lane",
                    loc};
}

DeviceId device_id(const Device &device) {
    const auto &accelerator = device.shared_impl()->accelerator;
    return accelerator ? DeviceId{CUDA, accelerator->ordinal()} : DeviceId{CPU, 0};
}

}// namespace dlpack

namespace runtime {

Argument import_dlpack(const Device &device, ManagedVersioned *managed, SourceLoc loc) {
    auto owner = owner_of(not_null(managed, loc));
    if (managed->version.major != Version{}.major) {
        // What else such a tensor has is not known; that its deleter is where it is, is.
        throw InteropError{"from_dlpack: the tensor is of DLPack " +
                               std::to_string(managed->version.major) + "." +
                               std::to_string(managed->version.minor) + ", expected version 1",
                           loc};
    }
    return read(device, managed->tensor, (managed->flags & READ_ONLY) != 0, std::move(owner), loc);
}

Argument import_dlpack(const Device &device, Managed *managed, SourceLoc loc) {
    auto owner = owner_of(not_null(managed, loc));
    return read(device, managed->tensor, false, std::move(owner), loc);
}

ManagedVersioned *export_versioned(const Device &device, const Argument &tensor, SourceLoc loc) {
    auto *managed = export_as<ManagedVersioned>(device, tensor, loc);
    managed->flags = tensor.read_only ? uint64_t{READ_ONLY} : 0;
    return managed;
}

Managed *export_unversioned(const Device &device, const Argument &tensor, SourceLoc loc) {
    if (tensor.read_only) {
        throw InteropError{"to_dlpack_unversioned: the tensor is read-only, which this form cannot "
                           "say; use to_dlpack",
                           loc};
    }
    return export_as<Managed>(device, tensor, loc);
}

void check_import(const Argument &tensor, ScalarType type, int rank, bool read_only,
                  SourceLoc loc) {
    if (tensor.type != type || tensor.rank != rank) {
        throw InteropError{"from_dlpack: the tensor is of rank " + std::to_string(tensor.rank) +
                               " and " + to_string(tensor.type) + ", asked for is rank " +
                               std::to_string(rank) + " of " + to_string(type),
                           loc};
    }
    if (tensor.read_only && !read_only) {
        throw InteropError{"from_dlpack: the tensor is read-only; ask for a Tensor<const T, R>",
                           loc};
    }
}

}// namespace runtime

}// namespace luisa::tile
