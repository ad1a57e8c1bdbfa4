// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/device.h>

#include <array>
#include <cstring>

namespace luisa::tile {

namespace runtime {
/// 64-byte aligned memory of a device, freed with its last holder.
std::shared_ptr<void> allocate(const Device &device, size_t bytes);
[[noreturn]] void fail_extent(int64_t extent, SourceLoc loc);
/// Product of extents times the element size; ValueError beyond int64.
int64_t checked_bytes(const int64_t *extents, int rank, size_t element, SourceLoc loc);
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
    }
    /// Memory of the caller, which must outlive its uses.
    Tensor(T *data, Extents extents, Extents strides)
        : _data{data}, _extents{extents}, _strides{strides} {}
    Tensor(T *data, Extents extents) : Tensor{data, extents, dense(extents)} {}

    [[nodiscard]] T *data() const noexcept { return _data; }
    [[nodiscard]] int64_t extent(int i) const { return _extents.at(static_cast<size_t>(i)); }
    [[nodiscard]] int64_t stride(int i) const { return _strides.at(static_cast<size_t>(i)); }
    [[nodiscard]] const Extents &extents() const noexcept { return _extents; }
    [[nodiscard]] const Extents &strides() const noexcept { return _strides; }
    [[nodiscard]] int64_t size() const noexcept {
        int64_t n = 1;
        for (auto e : _extents) {
            n *= e;
        }
        return n;
    }
    /// One element; the indices must be in range.
    template<class... I> [[nodiscard]] T &at(I... index) const {
        static_assert(sizeof...(I) == static_cast<size_t>(R), "one index a dimension");
        int64_t offset = 0;
        size_t i = 0;
        ((offset += static_cast<int64_t>(index) * _strides[i++]), ...);
        return _data[offset];
    }
    /// The elements with indices [begin, end) along a dimension, `step` apart (negative: backwards).
    [[nodiscard]] Tensor slice(int axis, int64_t begin, int64_t end, int64_t step = 1) const {
        auto view = *this;
        auto a = static_cast<size_t>(axis);
        auto span = step > 0 ? end - begin : begin - end;
        auto width = step > 0 ? step : -step;
        view._extents.at(a) = span > 0 ? (span + width - 1) / width : 0;
        view._data += begin * _strides.at(a);
        view._strides.at(a) *= step;
        return view;
    }
    /// Two dimensions exchanged; no data moves.
    [[nodiscard]] Tensor transposed(int a, int b) const {
        auto view = *this;
        std::swap(view._extents.at(static_cast<size_t>(a)), view._extents.at(static_cast<size_t>(b)));
        std::swap(view._strides.at(static_cast<size_t>(a)), view._strides.at(static_cast<size_t>(b)));
        return view;
    }
    /// Every index of a dimension of extent one means the same element: stride 0, for reading.
    [[nodiscard]] Tensor repeated(int axis, int64_t count) const {
        auto view = *this;
        view._extents.at(static_cast<size_t>(axis)) = count;
        view._strides.at(static_cast<size_t>(axis)) = 0;
        return view;
    }
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
    static Extents dense(const Extents &extents) {
        Extents strides{};
        int64_t stride = 1;
        for (size_t i = static_cast<size_t>(R); i-- > 0;) {
            strides[i] = stride;
            stride *= extents[i] > 0 ? extents[i] : 1;
        }
        return strides;
    }

    std::shared_ptr<void> _owner;
    T *_data = nullptr;
    Extents _extents{}, _strides{};
};

/// A dense tensor on a device: `make_tensor<float>(device, rows, columns)`.
template<class T, class... E>
[[nodiscard]] Tensor<T, static_cast<int>(sizeof...(E))> make_tensor(const Device &device, E... extents) {
    return {device, {static_cast<int64_t>(extents)...}};
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
    [[nodiscard]] const Call &dispatch() const noexcept { return *this; }
};

}// namespace runtime

template<class... A> auto Shader::operator()(const A &...arguments) const {
    return runtime::Call<sizeof...(A)>{_impl, {runtime::argument_from(arguments)...}};
}

}// namespace luisa::tile
