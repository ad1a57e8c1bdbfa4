// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/buffer.h>

#include <span>

namespace luisa::tile {

namespace runtime {

/// The shaders of one definition by the extents and strides of their arguments. Thread safe.
class ShaderTable {
public:
    ShaderTable();
    ~ShaderTable();
    ShaderTable(const ShaderTable &) = delete;
    ShaderTable &operator=(const ShaderTable &) = delete;
    /// The shader for these facts, or what `make(context)` gives, which is called at most once at a
    /// time and not again after it has returned.
    Shader find_or_make(std::span<const int64_t> facts, Shader (*make)(void *context),
                        void *context);

private:
    struct Impl;
    std::unique_ptr<Impl> _impl;
};

/// A kernel definition on a device: captured for the arguments of each call, compiled once for each
/// set of extents and strides. Copies share what was compiled; usable from any thread.
template<class Definition> class JitFunction {
public:
    JitFunction(Device device, Definition definition)
        : _device{std::move(device)},
          _definition{std::move(definition)}, _known{std::make_shared<ShaderTable>()} {}

    /// The command that runs the kernel on these arguments: `stream << f(x, y).dispatch()`.
    template<class... A> [[nodiscard]] auto operator()(const A &...arguments) const {
        return shader(arguments...)(arguments...);
    }
    /// The shader for these arguments, compiled when they are new.
    template<class... A> [[nodiscard]] Shader shader(const A &...arguments) const {
        static_assert((size_t{0} + ... + size_t{is_tensor<A>::value}) == Definition::tensors,
                      "one tensor or buffer for each TensorView of the kernel, in order");
        std::array<int64_t, (size_t{0} + ... + fact_count<A>())> facts;
        auto *fact = facts.data();
        (note(fact, arguments), ...);
        auto make = [&] { return compile(arguments...); };
        return _known->find_or_make(
            facts, [](void *context) { return (*static_cast<decltype(make) *>(context))(); },
            &make);
    }

private:
    template<class X> static constexpr size_t fact_count() {
        if constexpr (is_tensor<X>::value) {
            return 2 * static_cast<size_t>(X::rank);
        } else {
            return 0;
        }
    }
    template<class X> static void note(int64_t *&fact, const X &x) {
        if constexpr (is_tensor<X>::value) {
            for (int i = 0; i < X::rank; ++i) {
                *fact++ = x.extent(i);
                *fact++ = x.stride(i);
            }
        }
    }
    template<class... A> Shader compile(const A &...arguments) const {
        std::array<TensorMeta, Definition::tensors> metas;
        size_t next = 0;
        auto add = [&]<class X>(const X &x) {
            if constexpr (is_tensor<X>::value) {
                metas[next++] = x.meta();
            }
        };
        (add(arguments), ...);
        return _device.compile(_definition.capture_from(metas.data()));
    }
    Device _device;
    Definition _definition;
    std::shared_ptr<ShaderTable> _known;
};

}// namespace runtime

template<class Definition>
runtime::JitFunction<Definition> Device::jit(Definition definition) const {
    return {*this, std::move(definition)};
}

}// namespace luisa::tile
