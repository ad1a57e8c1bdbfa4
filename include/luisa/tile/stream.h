// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/tensor.h>

#include <chrono>
#include <functional>

namespace luisa::tile {

namespace runtime {
struct Synchronize {};
}// namespace runtime

/// Waits for everything before it: `stream << … << synchronize()`.
[[nodiscard]] inline runtime::Synchronize synchronize() noexcept { return {}; }

/// A point in a stream with its time.
class Event {
public:
    /// Milliseconds from `earlier` to this event; StateError unless both were recorded.
    [[nodiscard]] double milliseconds_since(const Event &earlier) const;

private:
    friend class Stream;
    std::chrono::steady_clock::time_point _time{};
    bool _recorded = false;
};

/// An ordered queue of work. On the CPU each command runs in the submitting thread at submission.
class Stream {
public:
    explicit Stream(Device device) : _device{std::move(device)} {}
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    Stream(Stream &&) = default;
    Stream &operator=(Stream &&) = default;

    /// Checks the arguments and runs the kernel; see `runtime::dispatch` for the errors.
    template<size_t N> Stream &operator<<(const runtime::Call<N> &call) {
        submit(call.shader.get(), call.arguments.data(), static_cast<int>(N), call.loc);
        return *this;
    }
    Stream &operator<<(const runtime::CopyCommand &copy);
    Stream &operator<<(runtime::Synchronize) { return *this; }
    /// Runs a host function in order.
    Stream &operator<<(const std::function<void()> &callback) {
        callback();
        return *this;
    }
    /// Records the time at which all earlier work is done.
    Stream &operator<<(Event &event) {
        event._time = std::chrono::steady_clock::now();
        event._recorded = true;
        return *this;
    }

private:
    void submit(const runtime::ShaderImpl *shader, const runtime::Argument *arguments, int count,
                SourceLoc loc);
    Device _device;
};

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

    template<class... A> [[nodiscard]] auto operator()(const A &...arguments) const {
        return shader(arguments...)(arguments...);
    }
    /// The shader for these arguments, compiled when they are new.
    template<class... A> [[nodiscard]] Shader shader(const A &...arguments) const {
        static_assert((size_t{0} + ... + size_t{is_tensor<A>::value}) == Definition::tensors,
                      "one tensor for each TensorView of the kernel, in order");
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

/// A callable that captures and compiles on first use for the extents and strides of its arguments:
/// `auto softmax = jit(device, definition); stream << softmax(x, y).dispatch();`.
template<class Definition>
[[nodiscard]] runtime::JitFunction<Definition> jit(const Device &device, Definition definition) {
    return {device, std::move(definition)};
}

}// namespace luisa::tile
