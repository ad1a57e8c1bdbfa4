// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/device.h>

#include <array>
#include <concepts>
#include <cstring>
#include <span>
#include <utility>

namespace luisa::tile {

template<class T> class Buffer;

namespace runtime {
/// A buffer with the place that names it.
template<class T> struct BufferAt {
    BufferAt(const Buffer<T> &buffer, SourceLoc loc = SourceLoc::current()) noexcept
        : buffer{buffer}, loc{loc} {}
    const Buffer<T> &buffer;
    SourceLoc loc;
};
/// 64-byte aligned memory of a device, freed with its last holder.
std::shared_ptr<void> allocate(const Device &device, size_t bytes);
/// Whether the host can read the memory of the device.
[[nodiscard]] bool host_reads_memory_of(const Device &device) noexcept;
/// ValueError: the host cannot read the element.
[[noreturn]] void fail_host_read(SourceLoc loc);
/// A device with the place that names it, for functions whose last parameter is a pack.
struct DeviceAt {
    DeviceAt(const Device &device, SourceLoc loc = SourceLoc::current()) noexcept
        : device{device}, loc{loc} {}
    const Device &device;
    SourceLoc loc;
};
[[noreturn]] void fail_extent(int64_t extent, SourceLoc loc);
/// Product of extents times the element size; ValueError beyond int64.
int64_t checked_bytes(const int64_t *extents, int rank, size_t element, SourceLoc loc);

/// A copy between a tensor and dense row-major host memory. Submit it with `stream << copy`.
struct CopyCommand {
    Argument tensor;
    void *host = nullptr;
    bool to_host = false;
};
/// ShapeError when the number of elements differs, LifetimeError for a tensor without memory.
[[nodiscard]] CopyCommand make_copy(Argument tensor, const void *host, size_t count, bool to_host,
                                    SourceLoc loc);
/// IndexError unless 0 <= axis < rank and the indices of a slice are inside; ValueError for step 0.
void check_slice(int rank, int axis, int64_t extent, int64_t begin, int64_t end, int64_t step,
                 SourceLoc loc);
void check_axis(int rank, int axis, SourceLoc loc);
/// ShapeError unless `extent` is one.
void check_repeat(int axis, int64_t extent, SourceLoc loc);
/// IndexError unless every place of a view of `tensor`'s extents and strides from element `offset` on is
/// one of a buffer's `size` elements; LifetimeError for a buffer without memory.
void check_fit(const Argument &tensor, int64_t offset, int64_t size, SourceLoc loc);
}// namespace runtime

/// Elements of type T in R dimensions: memory with extents and strides (in elements). Copies share the
/// memory; views of it are tensors too. It may also stand for memory of the caller.
template<class T, int R> class Tensor {
    static_assert(R >= 1 && R <= runtime::Argument::max_rank, "Tensor<T, R>: ranks 1 to 6");

public:
    using element = T;
    static constexpr int rank = R;
    using Extents = std::array<int64_t, static_cast<size_t>(R)>;

    Tensor() = default;
    /// A dense tensor in new memory, uninitialised. A negative extent: ValueError.
    Tensor(const Device &device, Extents extents, SourceLoc loc = SourceLoc::current())
        : _extents{extents}, _strides{dense(extents)} {
        auto bytes = runtime::checked_bytes(extents.data(), R, sizeof(T), loc);
        _owner = runtime::allocate(device, static_cast<size_t>(bytes));
        _data = static_cast<T *>(_owner.get());
        _alive = true;
        _host_reads = runtime::host_reads_memory_of(device);
    }
    /// The first elements of a buffer, dense and row-major; shares the buffer's memory. IndexError when the
    /// buffer has fewer, ValueError for a negative extent, LifetimeError for a buffer without memory.
    Tensor(runtime::BufferAt<std::remove_const_t<T>> buffer, Extents extents)
        : Tensor{buffer, extents, dense(extents)} {}
    /// The same with strides in elements, and with the buffer's element `offset` as the first one.
    Tensor(runtime::BufferAt<std::remove_const_t<T>> buffer, Extents extents, Extents strides,
           int64_t offset = 0)
        : _owner{buffer.buffer.argument().owner}, _data{buffer.buffer.data()}, _extents{extents},
          _strides{strides}, _alive{buffer.buffer.argument().alive},
          _host_reads{buffer.buffer.tensor().host_reads()} {
        static_cast<void>(runtime::checked_bytes(extents.data(), R, sizeof(T), buffer.loc));
        runtime::check_fit(argument(), offset, buffer.buffer.size(), buffer.loc);
        _data += offset;
    }
    /// Memory of the caller, which must outlive its uses.
    Tensor(T *data, Extents extents, Extents strides)
        : _data{data}, _extents{extents}, _strides{strides}, _alive{true} {}
    Tensor(T *data, Extents extents) : Tensor{data, extents, dense(extents)} {}
    /// Memory that lives as long as `owner`, which goes with the last tensor and command that uses it.
    Tensor(std::shared_ptr<void> owner, T *data, Extents extents, Extents strides)
        : _owner{std::move(owner)}, _data{data}, _extents{extents}, _strides{strides}, _alive{
                                                                                           true} {}
    Tensor(const Tensor &) = default;
    Tensor &operator=(const Tensor &) = default;
    /// The other one has no memory any more: a kernel that gets it throws LifetimeError.
    Tensor(Tensor &&other) noexcept
        : _owner{std::move(other._owner)}, _data{std::exchange(other._data, nullptr)},
          _extents{other._extents}, _strides{other._strides},
          _alive{std::exchange(other._alive, false)}, _host_reads{other._host_reads} {}
    Tensor &operator=(Tensor &&other) noexcept {
        Tensor moved{std::move(other)};
        std::swap(_owner, moved._owner);
        std::swap(_data, moved._data);
        std::swap(_extents, moved._extents);
        std::swap(_strides, moved._strides);
        std::swap(_alive, moved._alive);
        std::swap(_host_reads, moved._host_reads);
        return *this;
    }
    /// Lets the memory go; other tensors that share it keep it.
    void free() noexcept { *this = Tensor{}; }

    /// Whether the host can read the elements: not where they are in the memory of a GPU.
    [[nodiscard]] bool host_reads() const noexcept { return _host_reads; }
    /// The element at the origin, in the memory of the tensor's device; null for an empty tensor.
    [[nodiscard]] T *data() const noexcept { return _data; }
    /// Elements along dimension `i`.
    [[nodiscard]] int64_t extent(int i) const { return _extents.at(static_cast<size_t>(i)); }
    /// Elements in memory from one place to the next along dimension `i`; may be 0 or negative.
    [[nodiscard]] int64_t stride(int i) const { return _strides.at(static_cast<size_t>(i)); }
    /// Elements along every dimension.
    [[nodiscard]] const Extents &extents() const noexcept { return _extents; }
    /// Strides of every dimension, in elements.
    [[nodiscard]] const Extents &strides() const noexcept { return _strides; }
    /// Number of elements: the product of the extents.
    [[nodiscard]] int64_t size() const noexcept {
        int64_t n = 1;
        for (auto e : _extents) {
            n *= e;
        }
        return n;
    }
    /// One element, one index a dimension; the indices must be in range. ValueError for a tensor in the memory of a
    /// GPU, which `copy_to` brings to the host.
    template<std::integral I0>
    [[nodiscard]] T &at(I0 i0, SourceLoc loc = SourceLoc::current()) const requires(R == 1) {
        return element_at({static_cast<int64_t>(i0)}, loc);
    }
    // The same for other numbers of dimensions.
    template<std::integral I0, std::integral I1>
    [[nodiscard]] T &at(I0 i0, I1 i1, SourceLoc loc = SourceLoc::current()) const requires(R == 2) {
        return element_at({static_cast<int64_t>(i0), static_cast<int64_t>(i1)}, loc);
    }
    template<std::integral I0, std::integral I1, std::integral I2>
    [[nodiscard]] T &at(I0 i0, I1 i1, I2 i2, SourceLoc loc = SourceLoc::current()) const
        requires(R == 3) {
        return element_at(
            {static_cast<int64_t>(i0), static_cast<int64_t>(i1), static_cast<int64_t>(i2)}, loc);
    }
    template<std::integral I0, std::integral I1, std::integral I2, std::integral I3>
    [[nodiscard]] T &at(I0 i0, I1 i1, I2 i2, I3 i3, SourceLoc loc = SourceLoc::current()) const
        requires(R == 4) {
        return element_at({static_cast<int64_t>(i0), static_cast<int64_t>(i1),
                           static_cast<int64_t>(i2), static_cast<int64_t>(i3)},
                          loc);
    }
    template<std::integral I0, std::integral I1, std::integral I2, std::integral I3,
             std::integral I4>
    [[nodiscard]] T &at(I0 i0, I1 i1, I2 i2, I3 i3, I4 i4,
                        SourceLoc loc = SourceLoc::current()) const requires(R == 5) {
        return element_at({static_cast<int64_t>(i0), static_cast<int64_t>(i1),
                           static_cast<int64_t>(i2), static_cast<int64_t>(i3),
                           static_cast<int64_t>(i4)},
                          loc);
    }
    template<std::integral I0, std::integral I1, std::integral I2, std::integral I3,
             std::integral I4, std::integral I5>
    [[nodiscard]] T &at(I0 i0, I1 i1, I2 i2, I3 i3, I4 i4, I5 i5,
                        SourceLoc loc = SourceLoc::current()) const requires(R == 6) {
        return element_at({static_cast<int64_t>(i0), static_cast<int64_t>(i1),
                           static_cast<int64_t>(i2), static_cast<int64_t>(i3),
                           static_cast<int64_t>(i4), static_cast<int64_t>(i5)},
                          loc);
    }
    /// The elements with indices [begin, end) along a dimension, `step` apart. A negative step goes
    /// backwards, from `begin` down to above `end`. IndexError when an index is outside.
    [[nodiscard]] Tensor slice(int axis, int64_t begin, int64_t end, int64_t step = 1,
                               SourceLoc loc = SourceLoc::current()) const {
        runtime::check_axis(R, axis, loc);
        auto view = *this;
        auto a = static_cast<size_t>(axis);
        runtime::check_slice(R, axis, _extents[a], begin, end, step, loc);
        auto span = step > 0 ? end - begin : begin - end;
        auto width = step > 0 ? step : -step;
        view._extents[a] = span > 0 ? (span + width - 1) / width : 0;
        if (_data) {
            view._data += begin * _strides[a];
        }
        view._strides[a] *= step;
        return view;
    }
    /// Two dimensions exchanged; no data moves.
    [[nodiscard]] Tensor transposed(int a, int b, SourceLoc loc = SourceLoc::current()) const {
        runtime::check_axis(R, a, loc);
        runtime::check_axis(R, b, loc);
        auto view = *this;
        std::swap(view._extents[static_cast<size_t>(a)], view._extents[static_cast<size_t>(b)]);
        std::swap(view._strides[static_cast<size_t>(a)], view._strides[static_cast<size_t>(b)]);
        return view;
    }
    /// Every index of a dimension of extent one means the same element: stride 0, for reading.
    /// ShapeError when the extent is another one.
    [[nodiscard]] Tensor repeated(int axis, int64_t count,
                                  SourceLoc loc = SourceLoc::current()) const {
        runtime::check_axis(R, axis, loc);
        auto view = *this;
        auto a = static_cast<size_t>(axis);
        runtime::check_repeat(axis, _extents[a], loc);
        if (count < 0) {
            runtime::fail_extent(count, loc);
        }
        view._extents[a] = count;
        view._strides[a] = 0;
        return view;
    }
    /// The command that copies `host`, in row-major order, to this tensor. ShapeError when the number
    /// of elements differs. The host memory must live until the command has run.
    [[nodiscard]] runtime::CopyCommand copy_from(std::span<const std::remove_const_t<T>> host,
                                                 SourceLoc loc = SourceLoc::current()) const {
        static_assert(!std::is_const_v<T>, "copy_from() writes; this tensor is read only");
        return runtime::make_copy(argument(), host.data(), host.size(), false, loc);
    }
    /// The same from this tensor to `host`.
    [[nodiscard]] runtime::CopyCommand copy_to(std::span<std::remove_const_t<T>> host,
                                               SourceLoc loc = SourceLoc::current()) const {
        return runtime::make_copy(argument(), host.data(), host.size(), true, loc);
    }
    /// True when the elements lie in row-major order without gaps.
    [[nodiscard]] bool is_dense() const noexcept { return _strides == dense(_extents); }
    /// What capture needs to know.
    [[nodiscard]] TensorMeta meta() const {
        TensorMeta m;
        for (auto e : _extents) {
            m.extents.emplace_back(e);
        }
        if (_strides != dense(_extents)) {
            m.strides.assign(_strides.begin(), _strides.end());
        }
        return m;
    }
    [[nodiscard]] runtime::Argument argument() const {
        runtime::Argument a;
        a.is_view = true;
        a.alive = _alive;
        a.owner = _owner;
        a.type = scalar_type_of<std::remove_const_t<T>>;
        a.read_only = std::is_const_v<T>;
        a.rank = R;
        a.data = const_cast<std::remove_const_t<T> *>(_data);
        for (size_t i = 0; i < static_cast<size_t>(R); ++i) {
            a.extents[i] = _extents[i];
            a.strides[i] = _strides[i];
        }
        return a;
    }

private:
    T &element_at(const Extents &index, SourceLoc loc) const {
        if (!_host_reads) {
            runtime::fail_host_read(loc);
        }
        int64_t offset = 0;
        for (size_t i = 0; i < static_cast<size_t>(R); ++i) {
            offset += index[i] * _strides[i];
        }
        return _data[offset];
    }
    static Extents dense(const Extents &extents) {
        Extents strides{};
        // Unsigned: sizes that leave the range are reported by those who allocate.
        uint64_t stride = 1;
        for (size_t i = static_cast<size_t>(R); i-- > 0;) {
            strides[i] = static_cast<int64_t>(stride);
            stride *= extents[i] > 0 ? static_cast<uint64_t>(extents[i]) : 1;
        }
        return strides;
    }

    std::shared_ptr<void> _owner;
    T *_data = nullptr;
    Extents _extents{}, _strides{};
    bool _alive = false, _host_reads = true;
};

/// A dense tensor on a device: `make_tensor<float>(device, rows, columns)`.
template<class T, class... E>
[[nodiscard]] Tensor<T, static_cast<int>(sizeof...(E))> make_tensor(runtime::DeviceAt at,
                                                                    E... extents) {
    return {at.device, {static_cast<int64_t>(extents)...}, at.loc};
}

namespace runtime {

template<class X> struct is_tensor : std::false_type {};
template<class T, int R> struct is_tensor<Tensor<T, R>> : std::true_type {};

template<class X> Argument argument_from(const X &x) {
    if constexpr (is_tensor<X>::value) {
        return x.argument();
    } else {
        static_assert(Element<X>, "a dispatch takes tensors and element-typed numbers");
        Argument a;
        a.type = scalar_type_of<X>;
        if constexpr (std::is_arithmetic_v<X>) {
            std::memcpy(&a.bits, &x, sizeof(X));
        } else {
            a.bits = x.bits();
        }
        return a;
    }
}

/// A shader with its arguments, ready to go to a stream.
template<size_t N> struct Call {
    std::shared_ptr<const ShaderImpl> shader;
    std::array<Argument, N> arguments;
    SourceLoc loc;
    /// The command for a stream; errors name the place of this call.
    [[nodiscard]] Call &dispatch(SourceLoc at = SourceLoc::current()) noexcept {
        loc = at;
        return *this;
    }
};

}// namespace runtime

template<class... A> auto Shader::operator()(const A &...arguments) const {
    return runtime::Call<sizeof...(A)>{_impl, {runtime::argument_from(arguments)...}, {}};
}

}// namespace luisa::tile
