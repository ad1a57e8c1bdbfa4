// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "clock.h"
#include "machine.h"
#include "measure.h"
#include "peers/peer.h"

#include <luisa/tile.h>

#include <functional>
#include <string>
#include <vector>

namespace bench {

namespace lt = luisa::tile;

/// A case with its data and its compiled kernel, ready to run on one device.
struct Subject {
    TimedCall ours;
    double compile_ms = 0;///< capture and compilation
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
/// max |value − expected| ÷ max |expected|; NaN counts as infinite.
[[nodiscard]] double max_error(const float *values, const std::vector<double> &expected);

template<class Definition, class... A>
Subject make_subject(const lt::Device &device, Definition definition, const A &...arguments) {
    Subject subject;
    auto start = now();
    auto function = device.jit(std::move(definition));
    auto shader = function.shader(arguments...);
    subject.compile_ms = 1e3 * (now() - start);
    subject.plan = shader.metadata().plan;
    // What a user's loop does: bind, submit, and on an asynchronous device wait.
    subject.ours = timed([=, stream = std::make_shared<lt::Stream>(device)] {
        *stream << shader(arguments...).dispatch() << lt::synchronize();
    });
    return subject;
}

}// namespace bench
