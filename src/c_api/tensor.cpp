// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/dlpack.h>
#include <luisa/tile/types.h>

#include "c_api/handles.h"
#include "c_api/status.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace luisa::tile::c_api {

namespace {

ScalarType read_type(luisa_tile_type type, const char *function) {
    if (type < 0 || type >= static_cast<int>(scalar_type_count)) {
        throw ValueError{std::string{function} + ": there is no element type " +
                         std::to_string(type) + "; they are 0 to " +
                         std::to_string(scalar_type_count - 1)};
    }
    return static_cast<ScalarType>(type);
}

/// A dense argument without memory, and its bytes.
runtime::Argument dense(luisa_tile_type type, int32_t rank, const int64_t *extents,
                        const char *function, size_t &bytes) {
    if (rank < 1 || rank > LUISA_TILE_MAX_RANK) {
        throw ValueError{std::string{function} + ": rank " + std::to_string(rank) +
                         ", expected 1 to " + std::to_string(LUISA_TILE_MAX_RANK)};
    }
    need(extents, function, "extents");
    runtime::Argument a;
    a.is_view = true;
    a.type = read_type(type, function);
    a.rank = rank;
    std::copy_n(extents, rank, a.extents);
    bytes = static_cast<size_t>(runtime::checked_bytes(a.extents, rank, size_of(a.type), {}));
    uint64_t stride = 1;
    for (int d = rank; d-- > 0;) {
        a.strides[d] = static_cast<int64_t>(stride);
        stride *= static_cast<uint64_t>(std::max<int64_t>(a.extents[d], 1));
    }
    return a;
}

template<class M>
luisa_tile_tensor *import(luisa_tile_device *device, void *managed, const char *function) {
    // Also where the device is null, the deleter is called.
    if (!device && managed) {
        auto *m = static_cast<M *>(managed);
        if (m->deleter) {
            m->deleter(m);
        }
    }
    need(device, function, "device");
    auto argument = runtime::import_dlpack(device->state->device, static_cast<M *>(managed), {});
    return new luisa_tile_tensor{device->state, std::move(argument), true};
}

void copy(luisa_tile_tensor *tensor, void *native, const void *host, size_t bytes, bool to_host,
          const char *function) {
    need(tensor, function, "tensor");
    const auto &a = tensor->argument;
    auto element = size_of(a.type);
    auto expected = static_cast<size_t>(runtime::checked_bytes(a.extents, a.rank, element, {}));
    if (bytes != expected) {
        throw ShapeError{std::string{function} + ": " + std::to_string(bytes) +
                         " bytes of the host, the tensor has " + std::to_string(expected)};
    }
    if (bytes > 0) {
        need(host, function, "host");
    }
    auto command = runtime::make_copy(a, host, bytes / element, to_host, {});
    auto &device = *tensor->device;
    device.check_stream(native);
    if (device.native_streams) {
        device.on_stream(native, [&](Stream &stream) { stream << command; });
    } else {
        Stream{device.device} << command;
    }
}

template<class T> uint64_t bits_of(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

uint64_t float_bits(ScalarType type, double value, const char *function) {
    switch (type) {
        case ScalarType::FLOAT16: return half{value}.bits();
        case ScalarType::BFLOAT16: return bfloat16{value}.bits();
        case ScalarType::FLOAT32: return bits_of(static_cast<float>(value));
        case ScalarType::FLOAT64: return bits_of(value);
        default:
            throw ValueError{std::string{function} + ": " + to_string(type) +
                             " has no numbers of its own; pass its bits"};
    }
}

uint64_t integer_bits(ScalarType type, int64_t value, const char *function) {
    auto width = type == ScalarType::BOOL ? 1u : 8 * static_cast<unsigned>(size_of(type));
    bool fits = is_signed(type) ? width == 64 || (value >= -(int64_t{1} << (width - 1)) &&
                                                  value < int64_t{1} << (width - 1))
                                : value >= 0 && (width >= 63 || value < int64_t{1} << width);
    if (!fits) {
        throw ValueError{std::string{function} + ": " + std::to_string(value) + " is no value of " +
                         to_string(type)};
    }
    auto bits = static_cast<uint64_t>(value);
    return width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

}// namespace

}// namespace luisa::tile::c_api

using namespace luisa::tile;
using namespace luisa::tile::c_api;

luisa_tile_status luisa_tile_tensor_create(luisa_tile_device *device, luisa_tile_type type,
                                           int32_t rank, const int64_t *extents,
                                           luisa_tile_tensor **out) {
    static constexpr auto *function = "luisa_tile_tensor_create";
    return guarded([&] {
        need(device, function, "device");
        need(out, function, "out");
        size_t bytes = 0;
        auto a = dense(type, rank, extents, function, bytes);
        a.owner = runtime::allocate(device->state->device, bytes);
        a.data = a.owner.get();
        *out = new luisa_tile_tensor{device->state, std::move(a)};
    });
}

luisa_tile_status luisa_tile_tensor_wrap(luisa_tile_device *device, luisa_tile_type type,
                                         int32_t rank, const int64_t *extents,
                                         const int64_t *strides, void *data, int32_t read_only,
                                         luisa_tile_tensor **out) {
    static constexpr auto *function = "luisa_tile_tensor_wrap";
    return guarded([&] {
        need(device, function, "device");
        need(out, function, "out");
        size_t bytes = 0;
        auto a = dense(type, rank, extents, function, bytes);
        if (strides) {
            std::copy_n(strides, rank, a.strides);
        }
        a.data = data;
        a.read_only = read_only != 0;
        *out = new luisa_tile_tensor{device->state, std::move(a)};
    });
}

luisa_tile_status luisa_tile_tensor_from_dlpack(luisa_tile_device *device, void *managed,
                                                luisa_tile_tensor **out) {
    static constexpr auto *function = "luisa_tile_tensor_from_dlpack";
    return guarded([&] {
        auto *made = import <dlpack::Managed>(device, managed, function);
        out ? void(*out = made) : luisa_tile_tensor_destroy(made);
        need(out, function, "out");
    });
}

luisa_tile_status luisa_tile_tensor_from_dlpack_versioned(luisa_tile_device *device, void *managed,
                                                          luisa_tile_tensor **out) {
    static constexpr auto *function = "luisa_tile_tensor_from_dlpack_versioned";
    return guarded([&] {
        auto *made = import <dlpack::ManagedVersioned>(device, managed, function);
        out ? void(*out = made) : luisa_tile_tensor_destroy(made);
        need(out, function, "out");
    });
}

luisa_tile_status luisa_tile_tensor_to_dlpack(luisa_tile_tensor *tensor, void **out) {
    static constexpr auto *function = "luisa_tile_tensor_to_dlpack";
    return guarded([&] {
        need(tensor, function, "tensor");
        need(out, function, "out");
        *out = runtime::export_unversioned(tensor->device->device, tensor->argument, {});
    });
}

luisa_tile_status luisa_tile_tensor_to_dlpack_versioned(luisa_tile_tensor *tensor, void **out) {
    static constexpr auto *function = "luisa_tile_tensor_to_dlpack_versioned";
    return guarded([&] {
        need(tensor, function, "tensor");
        need(out, function, "out");
        *out = runtime::export_versioned(tensor->device->device, tensor->argument, {});
    });
}

void luisa_tile_tensor_destroy(luisa_tile_tensor *tensor) { delete tensor; }

luisa_tile_status luisa_tile_tensor_get_info(luisa_tile_tensor *tensor,
                                             luisa_tile_tensor_info *out) {
    static constexpr auto *function = "luisa_tile_tensor_get_info";
    return guarded([&] {
        need(tensor, function, "tensor");
        need(out, function, "out");
        const auto &a = tensor->argument;
        *out = {};
        out->type = static_cast<luisa_tile_type>(a.type);
        out->rank = a.rank;
        out->read_only = a.read_only;
        out->data = a.data;
        std::copy_n(a.extents, a.rank, out->extents);
        std::copy_n(a.strides, a.rank, out->strides);
    });
}

luisa_tile_status luisa_tile_tensor_write(luisa_tile_tensor *tensor, void *stream, const void *host,
                                          size_t bytes) {
    static constexpr auto *function = "luisa_tile_tensor_write";
    return guarded([&] { copy(tensor, stream, host, bytes, false, function); });
}

luisa_tile_status luisa_tile_tensor_read(luisa_tile_tensor *tensor, void *stream, void *host,
                                         size_t bytes) {
    static constexpr auto *function = "luisa_tile_tensor_read";
    return guarded([&] { copy(tensor, stream, host, bytes, true, function); });
}

luisa_tile_status luisa_tile_scalar_from_double(luisa_tile_type type, double value,
                                                uint64_t *bits) {
    static constexpr auto *function = "luisa_tile_scalar_from_double";
    return guarded([&] {
        need(bits, function, "bits");
        auto scalar = read_type(type, function);
        if (is_float(scalar)) {
            *bits = float_bits(scalar, value, function);
            return;
        }
        if (!(std::abs(value) < 0x1p63) || value != std::floor(value)) {
            throw ValueError{std::string{function} + ": " + std::to_string(value) +
                             " is no value of " + to_string(scalar)};
        }
        *bits = integer_bits(scalar, static_cast<int64_t>(value), function);
    });
}

luisa_tile_status luisa_tile_scalar_from_int64(luisa_tile_type type, int64_t value,
                                               uint64_t *bits) {
    static constexpr auto *function = "luisa_tile_scalar_from_int64";
    return guarded([&] {
        need(bits, function, "bits");
        auto scalar = read_type(type, function);
        *bits = is_float(scalar) ? float_bits(scalar, static_cast<double>(value), function)
                                 : integer_bits(scalar, value, function);
    });
}
