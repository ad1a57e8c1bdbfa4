// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "clock.h"
#include "machine.h"
#include "measure.h"
#include "peers/peer.h"

#include <luisa/tile.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

namespace lt = luisa::tile;

/// A tensor and its elements as the host sees them: on devices of the host the tensor's own, else a copy beside it.
/// Copies are the same mirror.
template<class T, int R> class Mirror {
public:
    template<class... E>
    explicit Mirror(const lt::Device &device, E... extents)
        : _device{device}, _tensor{lt::make_tensor<T>(device, extents...)} {
        if (device.name().starts_with("cuda") && device.name() != "cuda-emulator") {
            _copy = std::make_shared<std::vector<T>>(static_cast<size_t>(_tensor.size()));
        }
    }
    [[nodiscard]] const lt::Tensor<T, R> &tensor() const noexcept { return _tensor; }
    [[nodiscard]] int64_t size() const noexcept { return _tensor.size(); }
    [[nodiscard]] int64_t extent(int i) const { return _tensor.extent(i); }
    /// Dense and row-major.
    [[nodiscard]] T *host() const noexcept { return _copy ? _copy->data() : _tensor.data(); }
    /// What the host wrote goes to the device.
    void push() const {
        if (_copy) {
            lt::Stream{_device} << _tensor.copy_from(*_copy) << lt::synchronize();
        }
    }
    /// The host sees what the device wrote, all work before done.
    void pull() const {
        if (_copy) {
            lt::Stream{_device} << _tensor.copy_to(*_copy) << lt::synchronize();
        }
    }

private:
    lt::Device _device;
    lt::Tensor<T, R> _tensor;
    std::shared_ptr<std::vector<T>> _copy;///< null where the tensor's memory is the host's
};

/// A case with its data and its compiled kernel, ready to run on one device.
struct Subject {
    TimedCall ours;
    std::function<void(lt::Stream &)> launch;///< submits one call
    double compile_ms = 0;                   ///< capture and compilation
    std::string plan;
    std::function<TimedCall(Peer &)> peer;///< the same work on the same data
    std::function<TimedCall()> base;      ///< of a variant: the source that it says in other words
    std::function<double()> error;        ///< of the output as it stands, against f64
    std::function<void()> poison;         ///< fills the output with NaN
};

struct Case {
    std::string name;
    std::string dtype;
    Work work;
    double tolerance = 0;///< a larger `Subject::error` is a failure, of ours or of the peer
    std::function<Subject(const lt::Device &)> prepare;
};

struct Suite {
    const char *name;
    const char *summary;
    std::vector<Case> (*cases)();
    std::vector<Case> (*gpu_cases)() = nullptr;///< null: measured on the CPU only
};

/// In the order of their names. A suite's file registers it: `const Registered gemm{{"gemm", …}};`.
[[nodiscard]] const std::vector<Suite> &all_suites();
struct Registered {
    explicit Registered(Suite suite);
};

/// Captures and compiles a definition for its arguments and returns what runs it on a stream.
template<class Definition, class... A>
Subject make_subject(const lt::Device &device, Definition definition, const A &...arguments);

/// Random values in [-1, 1), the same in every run.
void fill(float *data, int64_t count, uint32_t seed);
void fill_nan(float *data, int64_t count);
template<int R> void fill(const Mirror<float, R> &mirror, uint32_t seed) {
    fill(mirror.host(), mirror.size(), seed);
    mirror.push();
}
template<int R> void fill_nan(const Mirror<float, R> &mirror) {
    fill_nan(mirror.host(), mirror.size());
    mirror.push();
}
/// max |value − expected| ÷ max |expected|; NaN counts as infinite.
[[nodiscard]] double max_error(const float *values, const std::vector<double> &expected);
template<int R>
[[nodiscard]] double max_error(const Mirror<float, R> &mirror,
                               const std::vector<double> &expected) {
    mirror.pull();
    return max_error(mirror.host(), expected);
}

template<class Definition, class... A>
Subject make_subject(const lt::Device &device, Definition definition, const A &...arguments) {
    Subject subject;
    auto start = now();
    auto function = device.jit(std::move(definition));
    auto shader = function.shader(arguments...);
    subject.compile_ms = 1e3 * (now() - start);
    subject.plan = shader.metadata().plan;
    subject.launch = [=](lt::Stream &stream) { stream << shader(arguments...).dispatch(); };
    // What a user's loop does: bind, submit, and on an asynchronous device wait.
    subject.ours = timed([=, stream = std::make_shared<lt::Stream>(device)] {
        *stream << shader(arguments...).dispatch() << lt::synchronize();
    });
    return subject;
}

}// namespace bench
