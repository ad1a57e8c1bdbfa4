// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/tensor.h>

namespace luisa::tile {

/// Memory of a device for a number of elements of type T, 64-byte aligned and not initialised. The
/// handle is move-only; tensors over the buffer and commands that wait in a stream keep the memory.
/// As an argument of a kernel it is a dense view of one dimension.
template<class T> class Buffer {
    static_assert(Element<T>, "Buffer<T>: T is an element type, without const");

public:
    using element = T;
    static constexpr int rank = 1;

    Buffer() = default;
    /// A negative number of elements, or more bytes than int64 counts: ValueError.
    Buffer(const Device &device, int64_t size, SourceLoc loc = SourceLoc::current())
        : _all{device, {size}, loc} {}
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    /// The other one has no memory any more: a kernel that gets it throws LifetimeError.
    Buffer(Buffer &&) noexcept = default;
    Buffer &operator=(Buffer &&) noexcept = default;
    /// Lets the memory go; tensors over it keep it.
    void free() noexcept { _all.free(); }

    /// Elements; 0 for a buffer that was moved from or freed.
    [[nodiscard]] int64_t size() const noexcept { return _all.data() ? _all.size() : 0; }
    /// The first element in the device's memory; null when empty.
    [[nodiscard]] T *data() const noexcept { return _all.data(); }
    /// All elements as a tensor of one dimension. Other forms are constructors of Tensor:
    /// `Tensor<float, 2>{buffer, {rows, columns}}`.
    [[nodiscard]] const Tensor<T, 1> &tensor() const noexcept { return _all; }
    /// The command that copies `host` to the whole buffer; see Tensor::copy_from.
    [[nodiscard]] runtime::CopyCommand copy_from(std::span<const T> host,
                                                 SourceLoc loc = SourceLoc::current()) const {
        return _all.copy_from(host, loc);
    }
    /// The command that copies the whole buffer to `host`.
    [[nodiscard]] runtime::CopyCommand copy_to(std::span<T> host,
                                               SourceLoc loc = SourceLoc::current()) const {
        return _all.copy_to(host, loc);
    }

    // What a dispatch and a capture ask of a tensor.
    /// Elements along dimension `i`, which is 0.
    [[nodiscard]] int64_t extent(int i) const { return _all.extent(i); }
    /// Elements from one place to the next along dimension `i`: 1.
    [[nodiscard]] int64_t stride(int i) const { return _all.stride(i); }
    /// What a capture needs to know of the buffer: its extent, stride and alignment.
    [[nodiscard]] TensorMeta meta() const { return _all.meta(); }
    [[nodiscard]] runtime::Argument argument() const { return _all.argument(); }

private:
    Tensor<T, 1> _all;
};

namespace runtime {
template<class T> struct is_tensor<Buffer<T>> : std::true_type {};
}// namespace runtime

}// namespace luisa::tile
