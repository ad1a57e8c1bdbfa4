// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile.h>
#include <luisa/tile/sort.h>

#include "support/both.h"

#include <algorithm>
#include <numeric>
#include <optional>

// What ordering means, written with std::stable_sort on the host.

namespace luisa::tile::test {

struct Request {
    std::vector<int64_t> extents;
    size_t axis = 0;
    SortOrder order = ascending;
    SortOptions options = {};
    int64_t k = -1;///< -1: sort
};

inline View index_view(std::vector<int64_t> extents) {
    return dense<int64_t>(std::move(extents), std::vector<int64_t>{-77});
}

inline std::string text_of(const Request &r) {
    std::string text = "axis " + std::to_string(r.axis) + " of";
    for (auto e : r.extents) {
        text += " " + std::to_string(e);
    }
    return text + (r.order == descending ? ", descending" : "") +
           (r.options.nan == nan::first ? ", nan first" : "") + ", k " + std::to_string(r.k);
}

/// Whether element a comes before b for its value.
inline bool precedes(double a, double b, const Request &r) {
    bool first = r.options.nan == nan::first;
    if (std::isnan(a) || std::isnan(b)) {
        return std::isnan(a) != std::isnan(b) && std::isnan(a) == first;
    }
    return r.order == descending ? a > b : a < b;
}

/// 64-bit integers are compared as such.
inline bool precedes(const View &v, size_t a, size_t b, const Request &r) {
    if (!is_float(v.type) && size_of(v.type) == 8) {
        uint64_t x = 0, y = 0;
        std::memcpy(&x, v.bytes.data() + a * 8, 8);
        std::memcpy(&y, v.bytes.data() + b * 8, 8);
        auto flip = is_signed(v.type) ? uint64_t{1} << 63 : 0;
        return r.order == descending ? (x ^ flip) > (y ^ flip) : (x ^ flip) < (y ^ flip);
    }
    return precedes(element_value(v, a), element_value(v, b), r);
}

/// The lines along the axis: the first element of each and the distance between elements.
struct Lines {
    int64_t outer = 1, inner = 1, extent = 0;
    explicit Lines(const Request &r) : extent{r.extents[r.axis]} {
        for (size_t i = 0; i < r.extents.size(); ++i) {
            (i < r.axis ? outer : inner) *= i == r.axis ? 1 : r.extents[i];
        }
    }
};

/// Checks values (bits) and indices of views 1 and 2 against view 0.
inline void expect_order(const std::vector<View> &views, const Request &r) {
    Lines lines{r};
    auto width = size_of(views[0].type);
    int64_t keep = r.k < 0 ? lines.extent : r.k;
    for (int64_t o = 0; o < lines.outer; ++o) {
        for (int64_t i = 0; i < lines.inner; ++i) {
            std::vector<int64_t> order(static_cast<size_t>(lines.extent));
            std::iota(order.begin(), order.end(), 0);
            auto source = [&](int64_t n) {
                return static_cast<size_t>((o * lines.extent + n) * lines.inner + i);
            };
            std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
                return precedes(views[0], source(a), source(b), r);
            });
            for (int64_t p = 0; p < keep; ++p) {
                auto at = static_cast<size_t>((o * keep + p) * lines.inner + i);
                auto from = order[static_cast<size_t>(p)];
                ASSERT_EQ(0, std::memcmp(views[1].bytes.data() + at * width,
                                         views[0].bytes.data() + source(from) * width, width))
                    << "value " << p << " of line " << o << ", " << i << "; " << text_of(r);
                if (r.options.indices) {
                    int64_t index = 0;
                    std::memcpy(&index, views[2].bytes.data() + at * 8, 8);
                    ASSERT_EQ(index, from)
                        << "index " << p << " of line " << o << ", " << i << "; " << text_of(r);
                }
            }
        }
    }
}

template<class T> Kernel ordering_kernel(const Request &r) {
    auto result = r.extents;
    result[r.axis] = r.k < 0 ? result[r.axis] : r.k;
    auto def = tile_kernel(
        [=](TensorView<const T, 3> X, TensorView<T, 3> Y, TensorView<int64_t, 3> I) {
            std::array<Axis, 3> dims{axis("a", r.extents[0]), axis("b", r.extents[1]),
                                     axis("c", r.extents[2])};
            auto out = dims;
            out[r.axis].extent = result[r.axis];
            auto place = shape(out[0], out[1], out[2]);
            auto x = X[coord(0, 0, 0), shape(dims[0], dims[1], dims[2])];
            auto ranked = r.k < 0 ? sort(x, dims[r.axis], r.order, r.options)
                                  : topk(x, dims[r.axis], r.k, r.order, r.options);
            Y(coord(0, 0, 0), place).store(ranked.values);
            if (r.options.indices) {
                I(coord(0, 0, 0), place).store(ranked.indices);
            }
        });
    auto shape_of = [](const std::vector<int64_t> &e) { return tensor_shape(e[0], e[1], e[2]); };
    return def.capture(shape_of(r.extents), shape_of(result), shape_of(result));
}

/// Orders `values` (cyclically) on both back ends and compares with the host.
template<class T> void check_ordering(const Request &r, const std::vector<T> &values) {
    auto result = r.extents;
    result[r.axis] = r.k < 0 ? result[r.axis] : r.k;
    auto output = dense<T>(result, {});// bytes that stand for nothing
    auto views = run_both(ordering_kernel<T>(r),
                          {dense<T>(r.extents, values), output, index_view(result)});
    expect_order(views, r);
}

/// Many equal values, both zeros, infinities and, when asked, NaNs of both signs.
template<class T> std::vector<T> ordering_values(uint32_t seed, bool with_nan, int range = 6) {
    std::mt19937 engine{seed};
    std::vector<T> values(509);
    for (auto &x : values) {
        auto n = static_cast<int>(engine() % static_cast<uint32_t>(2 * range + 1)) - range;
        x = small_integer<T>(n);
        if constexpr (!std::is_integral_v<T>) {
            auto pick = engine() % 16;
            float special = pick == 0   ? -0.0f
                            : pick == 1 ? HUGE_VALF
                            : pick == 2 ? -HUGE_VALF
                            : pick == 3 ? (with_nan ? NAN : 0.0f)
                            : pick == 4 ? (with_nan ? -NAN : -0.0f)
                                        : static_cast<float>(n);
            x = static_cast<T>(special);
        }
    }
    return values;
}

}// namespace luisa::tile::test
