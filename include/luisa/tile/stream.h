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

    /// Checks the arguments and runs the kernel; see `runtime::dispatch` for the errors.
    template<size_t N> Stream &operator<<(const runtime::Call<N> &call) {
        submit(call.shader.get(), call.arguments.data(), static_cast<int>(N));
        return *this;
    }
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
    void submit(const runtime::ShaderImpl *shader, const runtime::Argument *arguments, int count);
    Device _device;
};

namespace runtime {

/// A kernel definition on a device: captured for the arguments of each call, compiled once for each set
/// of extents and strides.
template<class Definition> class JitFunction {
    using Facts = std::array<TensorMeta, Definition::tensors>;

public:
    JitFunction(Device device, Definition definition)
        : _device{std::move(device)}, _definition{std::move(definition)} {}

    template<class... A> [[nodiscard]] auto operator()(const A &...arguments) {
        return shader(arguments...)(arguments...);
    }
    /// The shader for these arguments, compiled when they are new.
    template<class... A> [[nodiscard]] Shader shader(const A &...arguments) {
        Facts facts;
        size_t next = 0;
        auto note = [&](const auto &x) {
            if constexpr (is_tensor<std::remove_cvref_t<decltype(x)>>::value) {
                facts[next++] = x.meta();
            }
        };
        (note(arguments), ...);
        for (const auto &entry : _known) {
            if (same(entry.first, facts)) {
                return entry.second;
            }
        }
        auto compiled = _device.compile(_definition.capture_from(facts.data()));
        _known.emplace_back(facts, compiled);
        return compiled;
    }

private:
    static bool same(const Facts &a, const Facts &b) {
        for (size_t i = 0; i < a.size(); ++i) {
            if (a[i].strides != b[i].strides || a[i].extents.size() != b[i].extents.size()) {
                return false;
            }
            for (size_t j = 0; j < a[i].extents.size(); ++j) {
                if (a[i].extents[j].value != b[i].extents[j].value) {
                    return false;
                }
            }
        }
        return true;
    }
    Device _device;
    Definition _definition;
    std::vector<std::pair<Facts, Shader>> _known;
};

}// namespace runtime

/// A callable that captures and compiles on first use for the extents and strides of its arguments:
/// `auto softmax = jit(device, definition); stream << softmax(x, y);`. Use it from one thread at a time.
template<class Definition>
[[nodiscard]] runtime::JitFunction<Definition> jit(const Device &device, Definition definition) {
    return {device, std::move(definition)};
}

}// namespace luisa::tile
