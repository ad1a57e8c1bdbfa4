// SPDX-License-Identifier: Apache-2.0
// Programs over whole arrays: a sum, running sums, an order with places, a histogram.
#include "suite.h"

#include <luisa/tile/device_ops.h>
#include <luisa/tile/device_sort.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace bench {

namespace {

using namespace luisa::tile;

constexpr int64_t bins = 4096;
constexpr double wrong = std::numeric_limits<double>::infinity();

/// As make_subject, for a program: it is recorded and compiled by its first call.
template<class Program, class... A>
Subject program_subject(const Device &device, Program program, const A &...arguments) {
    Subject subject;
    auto start = now();
    auto function = device.jit(std::move(program));
    auto stream = std::make_shared<Stream>(device);
    *stream << function(arguments...).dispatch() << synchronize();
    subject.compile_ms = 1e3 * (now() - start);
    subject.launch = [=](Stream &on) { on << function(arguments...).dispatch(); };
    subject.ours = timed([=] { *stream << function(arguments...).dispatch() << synchronize(); });
    subject.peer = [](Peer &) { return TimedCall{}; };
    return subject;
}

Subject sum(const Device &device, int64_t n) {
    const Mirror<float, 1> x{device, n}, y{device, 1};
    fill(x, 1);
    double expected = 0;
    for (int64_t i = 0; i < n; ++i) {
        expected += static_cast<double>(x.host()[i]);
    }
    auto subject = program_subject(device, device_reduce<float>(add), x.tensor(), y.tensor());
    subject.error = [=] { return max_error(y, {expected}); };
    subject.poison = [=] { fill_nan(y); };
    return subject;
}

Subject scan(const Device &device, int64_t n) {
    const Mirror<float, 1> x{device, n}, y{device, n};
    fill(x, 1);
    auto expected = std::make_shared<std::vector<double>>();
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
        expected->push_back(total += static_cast<double>(x.host()[i]));
    }
    auto subject = program_subject(device, device_scan<float>(add), x.tensor(), y.tensor());
    subject.error = [=] { return max_error(y, *expected); };
    subject.poison = [=] { fill_nan(y); };
    return subject;
}

/// Random values are distinct or equal; either way a place must hold its value, and places of equal ones ascend.
double order_error(const Mirror<float, 1> &x, const Mirror<float, 1> &y,
                   const Mirror<int64_t, 1> &places) {
    y.pull();
    places.pull();
    for (int64_t i = 0; i < x.size(); ++i) {
        auto place = places.host()[i];
        if (place < 0 || place >= x.size() || x.host()[place] != y.host()[i]) {
            return wrong;
        }
        bool before = i == 0 || y.host()[i - 1] < y.host()[i] ||
                      (y.host()[i - 1] == y.host()[i] && places.host()[i - 1] < place);
        if (!before) {
            return wrong;
        }
    }
    return 0;
}

Subject order(const Device &device, int64_t n) {
    const Mirror<float, 1> x{device, n}, y{device, n};
    const Mirror<int64_t, 1> places{device, n};
    fill(x, 1);
    auto subject = program_subject(device, device_sort<float>(), x.tensor(), y.tensor(),
                                   places.tensor());
    subject.error = [=] { return order_error(x, y, places); };
    subject.poison = [=] {
        fill_nan(y);
        std::fill_n(places.host(), n, int64_t{-1});
        places.push();
    };
    return subject;
}

Subject histogram(const Device &device, int64_t n) {
    const Mirror<int32_t, 1> x{device, n};
    const Mirror<int64_t, 1> counts{device, bins};
    auto expected = std::make_shared<std::vector<int64_t>>(static_cast<size_t>(bins));
    uint32_t state = 1;
    for (int64_t i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        x.host()[i] = static_cast<int32_t>(state >> 20);
        ++(*expected)[state >> 20];
    }
    x.push();
    auto subject = program_subject(device, device_histogram<int32_t>(), x.tensor(),
                                   counts.tensor());
    subject.error = [=] {
        counts.pull();
        return std::equal(expected->begin(), expected->end(), counts.host()) ? 0.0 : wrong;
    };
    subject.poison = [=] {
        std::fill_n(counts.host(), bins, int64_t{-1});
        counts.push();
    };
    return subject;
}

struct Kind {
    const char *name;
    Subject (*prepare)(const Device &, int64_t);
    double bytes;///< an element
    double tolerance;
};
constexpr Kind kinds[] = {{"sum", sum, 4, 1e-4},
                          {"scan", scan, 8, 1e-4},
                          {"sort", order, 16, 0},
                          {"histogram", histogram, 4, 0}};

std::vector<Case> cases_of(const std::vector<int64_t> &sizes) {
    std::vector<Case> all;
    for (const auto &kind : kinds) {
        for (auto n : sizes) {
            all.push_back({.name = fmt::format("{}-{}", n, kind.name),
                           .dtype = kind.prepare == histogram ? "i32" : "f32",
                           .work = {.bytes = kind.bytes * static_cast<double>(n)},
                           .tolerance = kind.tolerance,
                           .prepare = [prepare = kind.prepare, n](const Device &d) {
                               return prepare(d, n);
                           }});
        }
    }
    return all;
}

std::vector<Case> cases() { return cases_of({1 << 22, 1000}); }
std::vector<Case> gpu_cases() { return cases_of({1 << 26, (1 << 24) + 1, 1 << 20, 1000}); }

const Registered whole{
    {"whole", "a sum, running sums, an order and a histogram of an array", cases, gpu_cases}};

}// namespace

}// namespace bench
