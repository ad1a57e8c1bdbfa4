// SPDX-License-Identifier: Apache-2.0
#include "runtime/written.h"

#include "types/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace luisa::tile::runtime {

namespace {

/// Calls `f` with the address of each element, in row-major order.
template<class F> void each_element(const Argument &view, const F &f) {
    auto size = static_cast<int64_t>(size_of(view.type));
    int64_t at[Argument::max_rank]{}, offset = 0;
    for (int d = 0; d < view.rank; ++d) {
        if (view.extents[d] == 0) {
            return;
        }
    }
    for (;;) {
        f(static_cast<std::byte *>(view.data) + offset * size);
        int d = view.rank - 1;
        for (; d >= 0; --d) {
            offset += view.strides[d];
            if (++at[d] < view.extents[d]) {
                break;
            }
            offset -= at[d] * view.strides[d];
            at[d] = 0;
        }
        if (d < 0) {
            return;
        }
    }
}

int64_t element_count(const Argument &view) {
    int64_t count = 1;
    for (int d = 0; d < view.rank; ++d) {
        count *= view.extents[d];
    }
    return count;
}

ViewContents read(const Argument &view, int number) {
    ViewContents contents{view.type, number, {}};
    auto size = size_of(view.type);
    contents.bytes.resize(static_cast<size_t>(element_count(view)) * size);
    auto *to = contents.bytes.data();
    each_element(view, [&](const std::byte *from) {
        std::memcpy(to, from, size);
        to += size;
    });
    return contents;
}

uint64_t bits_at(const ViewContents &contents, size_t i) {
    uint64_t bits = 0;
    auto size = size_of(contents.type);
    std::memcpy(&bits, contents.bytes.data() + i * size, size);
    return bits;
}

std::string difference(const ViewContents &expected, const ViewContents &got, double tolerance) {
    auto count = expected.bytes.size() / size_of(expected.type);
    auto value = [](const ViewContents &c, size_t i) {
        return arith::to_double(c.type, bits_at(c, i));
    };
    double largest = 0;
    if (is_float(expected.type)) {
        for (size_t i = 0; i < count; ++i) {
            auto x = std::fabs(value(expected, i));
            largest = std::isfinite(x) ? std::max(largest, x) : largest;
        }
    }
    for (size_t i = 0; i < count; ++i) {
        if (bits_at(expected, i) == bits_at(got, i)) {
            continue;
        }
        auto a = value(expected, i), b = value(got, i);
        bool alike = is_float(expected.type) && ((std::isnan(a) && std::isnan(b)) || a == b ||
                                                 std::fabs(a - b) <= tolerance * largest);
        if (!alike) {
            return fmt::format("element {} of argument {} is {}, expected {}", i, got.argument, b,
                               a);
        }
    }
    return {};
}

}// namespace

WrittenViews::WrittenViews(const ShaderImpl &shader, const Argument *arguments)
    : _arguments{arguments} {
    auto parameters = shader.module->kernel()->body->arguments();
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (std::find(shader.stored.begin(), shader.stored.end(), parameters[i]) !=
            shader.stored.end()) {
            _written.push_back(static_cast<int>(i));
        }
    }
    _before = contents();
}

std::vector<ViewContents> WrittenViews::contents() const {
    std::vector<ViewContents> all;
    for (auto i : _written) {
        all.push_back(read(_arguments[i], i));
    }
    return all;
}

void WrittenViews::restore() const noexcept {
    for (const auto &contents : _before) {
        const auto *from = contents.bytes.data();
        auto size = size_of(contents.type);
        each_element(_arguments[contents.argument], [&](std::byte *to) {
            std::memcpy(to, from, size);
            from += size;
        });
    }
}

std::string difference(const std::vector<ViewContents> &expected,
                       const std::vector<ViewContents> &got, double tolerance) {
    if (expected.size() != got.size()) {
        return fmt::format("{} views are written, expected {}", got.size(), expected.size());
    }
    for (size_t i = 0; i < expected.size(); ++i) {
        if (expected[i].argument != got[i].argument) {
            return fmt::format("argument {} is written, expected {}", got[i].argument,
                               expected[i].argument);
        }
        if (auto wrong = difference(expected[i], got[i], tolerance); !wrong.empty()) {
            return wrong;
        }
    }
    return {};
}

}// namespace luisa::tile::runtime
