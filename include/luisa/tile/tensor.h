// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/detail/storage.h>

#include <array>
#include <span>
#include <type_traits>
#include <utility>

namespace luisa::tile {

/// A strided view of R dimensions over a device's buffer or over host memory. Move-only; views are
/// made by name (`slice`, `transposed`, …) and share the memory, which lives as long as any of them.
/// Extents and strides count elements; strides may be negative or, for reading only, zero.
template<class T, int R> class Tensor {
    static_assert(Element<std::remove_const_t<T>>, "not an element type of tensors");
    static_assert(R >= 0 && R <= runtime::max_rank, "tensors have at most 8 dimensions");

public:
    using element = T;
    using Value = std::remove_const_t<T>;
    using Extents = std::array<int64_t, R>;
    static constexpr int rank = R;

    Tensor() = default;
    Tensor(Tensor &&other) noexcept
        : _data{std::exchange(other._data, nullptr)}, _extents{other._extents},
          _strides{other._strides}, _storage{std::move(other._storage)},
          _origin{std::exchange(other._origin, runtime::Origin::NONE)} {}
    Tensor &operator=(Tensor &&other) noexcept {
        if (this != &other) {
            _data = std::exchange(other._data, nullptr);
            _extents = other._extents;
            _strides = other._strides;
            _storage = std::move(other._storage);
            _origin = std::exchange(other._origin, runtime::Origin::NONE);
        }
        return *this;
    }
    Tensor(const Tensor &) = delete;
    Tensor &operator=(const Tensor &) = delete;
    /// For the functions that make tensors.
    Tensor(T *data, const Extents &extents, const Extents &strides, runtime::StorageRef storage,
           runtime::Origin origin) noexcept
        : _data{data}, _extents{extents}, _strides{strides}, _storage{std::move(storage)},
          _origin{origin} {}

    [[nodiscard]] const Extents &extents() const noexcept { return _extents; }
    [[nodiscard]] const Extents &strides() const noexcept { return _strides; }
    [[nodiscard]] int64_t extent(int i) const noexcept { return _extents[static_cast<size_t>(i)]; }
    [[nodiscard]] int64_t stride(int i) const noexcept { return _strides[static_cast<size_t>(i)]; }
    /// Number of elements.
    [[nodiscard]] int64_t size() const noexcept {
        int64_t n = 1;
        for (auto e : _extents) {
            n *= e;
        }
        return n;
    }
    /// Address of element (0, …, 0). On CPU devices the host may use it between commands.
    [[nodiscard]] T *data() const noexcept { return _data; }
    /// Row-major without gaps.
    [[nodiscard]] bool is_dense() const noexcept {
        return runtime::is_dense(_extents.data(), _strides.data(), R);
    }

    /// The same elements again.
    [[nodiscard]] Tensor view(SourceLoc loc = SourceLoc::current()) const {
        return derived<T, R>(_extents, _strides, 0, loc);
    }
    /// The same elements, for reading only.
    [[nodiscard]] Tensor<const T, R> as_const(SourceLoc loc = SourceLoc::current()) const {
        return derived<const T, R>(_extents, _strides, 0, loc);
    }
    /// Elements begin, begin + step, … before `end` along `axis`. Throws IndexError outside the
    /// extent, ValueError for a step below 1.
    [[nodiscard]] Tensor slice(int axis, int64_t begin, int64_t end, int64_t step = 1,
                               SourceLoc loc = SourceLoc::current()) const {
        auto e = _extents, s = _strides;
        auto offset = runtime::slice_view(e.data(), s.data(), R, axis, begin, end, step, loc);
        return derived<T, R>(e, s, offset, loc);
    }
    /// The tensor with its last two dimensions exchanged.
    [[nodiscard]] Tensor transposed(SourceLoc loc = SourceLoc::current()) const {
        static_assert(R >= 2, "transposed() needs two dimensions");
        auto e = _extents, s = _strides;
        std::swap(e[R - 1], e[R - 2]);
        std::swap(s[R - 1], s[R - 2]);
        return derived<T, R>(e, s, 0, loc);
    }
    /// Dimension i of the result is dimension `order[i]` of this tensor. Throws ValueError when
    /// `order` is no permutation.
    [[nodiscard]] Tensor permuted(const std::array<int, R> &order,
                                  SourceLoc loc = SourceLoc::current()) const {
        auto e = _extents, s = _strides;
        runtime::permute_view(e.data(), s.data(), R, order.data(), loc);
        return derived<T, R>(e, s, 0, loc);
    }
    /// Repeats dimensions of extent 1 and new leading ones, with stride 0; read-only, for several
    /// positions share an element. Throws ShapeError when the extents do not broadcast.
    template<size_t N>
    [[nodiscard]] Tensor<const T, static_cast<int>(N)>
    broadcast(const std::array<int64_t, N> &extents, SourceLoc loc = SourceLoc::current()) const {
        static_assert(N >= static_cast<size_t>(R), "broadcast() keeps or adds dimensions");
        auto e = _extents, s = _strides;
        std::array<int64_t, N> strides{};
        runtime::broadcast_view(e.data(), s.data(), R, extents.data(), static_cast<int>(N),
                                strides.data(), loc);
        return derived<const T, static_cast<int>(N)>(extents, strides, 0, loc);
    }
    /// Any other view: element (i, j, …) is the one `offset` + i·strides[0] + j·strides[1] + …
    /// elements from this tensor's first. Throws IndexError when that leaves the buffer.
    template<size_t N>
    [[nodiscard]] Tensor<T, static_cast<int>(N)>
    strided(const std::array<int64_t, N> &extents, const std::array<int64_t, N> &strides,
            int64_t offset = 0, SourceLoc loc = SourceLoc::current()) const {
        runtime::check_strided_view(info(), extents.data(), strides.data(), static_cast<int>(N),
                                    offset, loc);
        return derived<T, static_cast<int>(N)>(extents, strides, offset, loc);
    }
    /// The elements of a dense tensor in other dimensions. Throws ShapeError when their number
    /// differs, ValueError when the tensor is not dense.
    template<size_t N>
    [[nodiscard]] Tensor<T, static_cast<int>(N)>
    reshaped(const std::array<int64_t, N> &extents, SourceLoc loc = SourceLoc::current()) const {
        runtime::check_reshape(info(), extents.data(), static_cast<int>(N), loc);
        std::array<int64_t, N> strides{};
        runtime::dense_strides(extents.data(), static_cast<int>(N), strides.data());
        return derived<T, static_cast<int>(N)>(extents, strides, 0, loc);
    }

    /// Copies `host`, in row-major order, to this tensor. Throws ShapeError when the number of
    /// elements differs. The host memory must live until the command has run.
    [[nodiscard]] runtime::CopyCommand copy_from(std::span<const Value> host,
                                                 SourceLoc loc = SourceLoc::current()) const {
        static_assert(!std::is_const_v<T>, "copy_from() writes; this tensor is read-only");
        return runtime::make_copy(info(), host.data(), host.size(), false, loc);
    }
    /// Copies this tensor, in row-major order, to `host`. Throws as `copy_from` does.
    [[nodiscard]] runtime::CopyCommand copy_to(std::span<Value> host,
                                               SourceLoc loc = SourceLoc::current()) const {
        return runtime::make_copy(info(), host.data(), host.size(), true, loc);
    }
    /// Ends the life of the memory for all handles: later uses throw LifetimeError. It is returned
    /// when the last handle and queued command is gone.
    void free() noexcept {
        runtime::mark_freed(_storage);
        *this = Tensor{};
    }

    [[nodiscard]] runtime::TensorInfo info() const noexcept {
        return {const_cast<Value *>(_data), _extents.data(), _strides.data(), &_storage,
                scalar_type_of<Value>, static_cast<uint8_t>(R), std::is_const_v<T>, _origin};
    }

private:
    template<class U, int N>
    Tensor<U, N> derived(const std::array<int64_t, static_cast<size_t>(N)> &extents,
                         const std::array<int64_t, static_cast<size_t>(N)> &strides, int64_t offset,
                         SourceLoc loc) const {
        runtime::check_alive(info(), "tensor", loc);
        return {_data ? _data + offset : nullptr, extents, strides, _storage, _origin};
    }

    T *_data = nullptr;
    Extents _extents{}, _strides{};
    runtime::StorageRef _storage;
    runtime::Origin _origin = runtime::Origin::NONE;
};

/// A tensor over the caller's memory, without a copy. The memory must outlive its use.
template<class T, size_t N>
[[nodiscard]] Tensor<T, static_cast<int>(N)> tensor_view(T *data,
                                                         const std::array<int64_t, N> &extents,
                                                         const std::array<int64_t, N> &strides,
                                                         SourceLoc loc = SourceLoc::current()) {
    static_cast<void>(runtime::checked_size(extents.data(), static_cast<int>(N), loc));
    return {data, extents, strides, nullptr, runtime::Origin::HOST};
}
/// The same, dense row-major.
template<class T, size_t N>
[[nodiscard]] Tensor<T, static_cast<int>(N)> tensor_view(T *data,
                                                         const std::array<int64_t, N> &extents,
                                                         SourceLoc loc = SourceLoc::current()) {
    std::array<int64_t, N> strides{};
    static_cast<void>(runtime::checked_size(extents.data(), static_cast<int>(N), loc));
    runtime::dense_strides(extents.data(), static_cast<int>(N), strides.data());
    return {data, extents, strides, nullptr, runtime::Origin::HOST};
}

}// namespace luisa::tile
