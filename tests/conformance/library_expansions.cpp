// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

#include <functional>

// Functions of luisa::tile::ops against expansions that are written out element by element: folds from the left,
// children that insert one element each. Random rows, ragged and empty ones, and rows of special values.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// y[o] = f(o) by one child instance an element.
template<class T, class F> Tile<T> by_elements(Axis o, const F &f) {
    auto y = zeros<T>(shape(o));
    for (auto &child : parallel(shape(o))) {
        Scalar<T> element = f(child.index());
        y = insert(y, child, element);
    }
    return y;
}
template<class C, class F> Scalar<C> sum_by_elements(Axis k, const F &f) {
    Scalar<C> sum = C(0);
    for (auto &i : reduce(shape(k), reduction::fold_left)) {
        sum += f(i.index());
    }
    return sum;
}
template<class C> Scalar<C> element_of(const Tile<C> &x, const Scalar<int64_t> &i) {
    return x.at(coord(i));
}
template<class C> Scalar<C> largest_of(const Tile<C> &x, Axis k) {
    Scalar<C> top = -std::numeric_limits<C>::infinity();
    for (auto &i : reduce(shape(k), reduction::fold_left)) {
        top = maximum(top, element_of(x, i.index()));
    }
    return top;
}
template<class C> Scalar<C> exponentials(const Tile<C> &x, const Scalar<C> &top, Axis k) {
    return sum_by_elements<C>(
        k, [&](const Scalar<int64_t> &i) { return exp(element_of(x, i) - top); });
}

/// A row to a row: what the library gives, and the same written out.
template<class T> struct Function {
    using Row = std::function<Tile<T>(const Tile<T> &, Axis)>;
    const char *name;
    Row library, expansion;
};
template<class T> using Functions = std::vector<Function<T>>;

template<class T> void add_row_functions(Functions<T> &all) {
    using C = ops::Compute<T>;
    using I = Scalar<int64_t>;
    auto each = [](const Tile<T> &x, Axis k, auto f) {
        auto v = ops::widen(x);
        return ops::narrow<T>(by_elements<C>(k, [&](const I &i) { return f(v, i); }));
    };
    all.push_back({"softmax", [](const Tile<T> &x, Axis k) { return ops::softmax(x, k); },
                   [=](const Tile<T> &x, Axis k) {
                       auto v = ops::widen(x);
                       auto top = largest_of(v, k);
                       auto total = exponentials(v, top, k);
                       return each(x, k, [&](const Tile<C> &w, const I &i) {
                           return exp(element_of(w, i) - top) / total;
                       });
                   }});
    all.push_back({"log_softmax", [](const Tile<T> &x, Axis k) { return ops::log_softmax(x, k); },
                   [=](const Tile<T> &x, Axis k) {
                       auto v = ops::widen(x);
                       auto top = largest_of(v, k);
                       auto total = log(exponentials(v, top, k));
                       return each(x, k, [&](const Tile<C> &w, const I &i) {
                           return element_of(w, i) - top - total;
                       });
                   }});
    all.push_back({"log_sum_exp",
                   [](const Tile<T> &x, Axis k) {
                       return ops::log_sum_exp(x, k) + zeros<T>(shape(axis("one", 1)));
                   },
                   [=](const Tile<T> &x, Axis k) {
                       auto v = ops::widen(x);
                       auto top = largest_of(v, k);
                       auto sum = top + log(exponentials(v, top, k));
                       return ops::narrow<T>(full<C>(shape(axis("one", 1)), sum));
                   }});
    all.push_back(
        {"rms_norm", [](const Tile<T> &x, Axis k) { return ops::rms_norm(x, k, 1e-4); },
         [=](const Tile<T> &x, Axis k) {
             auto v = ops::widen(x);
             auto mean = sum_by_elements<C>(
                             k, [&](const I &i) { return element_of(v, i) * element_of(v, i); }) /
                         static_cast<double>(k.extent);
             return each(x, k, [&](const Tile<C> &w, const I &i) {
                 return element_of(w, i) * rsqrt(mean + 1e-4);
             });
         }});
    all.push_back(
        {"layer_norm", [](const Tile<T> &x, Axis k) { return ops::layer_norm(x, k, 1e-3); },
         [=](const Tile<T> &x, Axis k) {
             auto v = ops::widen(x);
             auto count = static_cast<double>(k.extent);
             auto mean = sum_by_elements<C>(k, [&](const I &i) { return element_of(v, i); }) /
                         count;
             auto variance = sum_by_elements<C>(k,
                                                [&](const I &i) {
                                                    auto d = element_of(v, i) - mean;
                                                    return d * d;
                                                }) /
                             count;
             return each(x, k, [&](const Tile<C> &w, const I &i) {
                 return (element_of(w, i) - mean) * rsqrt(variance + 1e-3);
             });
         }});
}

/// Functions of x and of x backwards.
template<class T> void add_pair_functions(Functions<T> &all) {
    using C = ops::Compute<T>;
    using S = Scalar<C>;
    auto pair = [&](const char *name, auto library, auto expansion) {
        all.push_back(
            {name, [=](const Tile<T> &x, Axis k) { return cast<T>(library(x, flip(x, k))); },
             [=](const Tile<T> &x, Axis k) {
                 auto v = ops::widen(x);
                 return cast<T>(by_elements<C>(k, [&](const Scalar<int64_t> &i) {
                     return expansion(element_of(v, i), element_of(v, -i + (k.extent - 1)));
                 }));
             }});
    };
    using R = const Tile<T> &;
    pair(
        "swiglu", [](R x, R y) { return ops::swiglu(x, y); },
        [](const S &x, const S &y) { return silu(x) * y; });
    pair(
        "geglu", [](R x, R y) { return ops::geglu(x, y); },
        [](const S &x, const S &y) { return gelu(x) * y; });
    pair(
        "binary_cross_entropy", [](R x, R y) { return ops::binary_cross_entropy(x, y); },
        [](const S &x, const S &y) { return maximum(x, C(0)) - x * y + log1p(exp(-abs(x))); });
    pair(
        "squared_error", [](R x, R y) { return ops::squared_error(x, y); },
        [](const S &x, const S &y) { return (x - y) * (x - y); });
    pair(
        "huber", [](R x, R y) { return ops::huber(x, y, 0.5); },
        [](const S &x, const S &y) {
            Scalar<C> d = abs(x - y), loss = (d - 0.25) * 0.5;
            if_(d <= 0.5, [&] { loss = d * d * 0.5; });
            return loss;
        });
    all.push_back({"kl_divergence",
                   [](const Tile<T> &x, Axis k) {
                       auto loss = ops::kl_divergence(x, flip(x, k), k);
                       return cast<T>(loss + zeros<C>(shape(axis("one", 1))));
                   },
                   [](const Tile<T> &x, Axis k) {
                       auto v = ops::widen(x);
                       auto sum = sum_by_elements<C>(k, [&](const Scalar<int64_t> &i) {
                           auto p = element_of(v, i), q = element_of(v, -i + (k.extent - 1));
                           return ite(exp(p) == C(0), C(0), exp(p) * (p - q));
                       });
                       return cast<T>(full<C>(shape(axis("one", 1)), sum));
                   }});
}

/// The windows of a row, each place visited in turn.
template<class T> Tile<T> pooled(const Tile<T> &x, Axis k, ops::Window w, int kind) {
    using C = ops::Compute<T>;
    auto v = ops::widen(x);
    auto windows = axis("windows", w.count(k.extent));
    auto y = by_elements<C>(windows, [&](const Scalar<int64_t> &o) {
        Scalar<C> top = -std::numeric_limits<C>::infinity(), sum = C(0), inside = C(0);
        for (auto &p : serial(range(0, w.size))) {
            auto place = o * w.stride - w.padding + p.index() * w.dilation;
            if_(place >= 0 && place < k.extent, [&] {
                auto e = element_of(v, place);
                top = maximum(top, e), sum += e, inside += C(1);
            });
        }
        return kind == 0 ? top : kind == 1 ? sum / static_cast<double>(w.size) : sum / inside;
    });
    return ops::narrow<T>(y);
}
template<class T> void add_window_functions(Functions<T> &all) {
    for (auto w : {ops::Window{3, 2, 1, 1}, ops::Window{2, 1, 2, 3}}) {
        for (int kind : {0, 1, 2}) {
            all.push_back({kind == 0   ? "max_pool"
                           : kind == 1 ? "avg_pool"
                                       : "avg_pool of elements",
                           [=](const Tile<T> &x, Axis k) {
                               return kind == 0
                                          ? ops::max_pool(x, {k, w})
                                          : ops::avg_pool(x, {k, w},
                                                          kind == 1 ? ops::PoolDivisor::WINDOW
                                                                    : ops::PoolDivisor::ELEMENTS);
                           },
                           [=](const Tile<T> &x, Axis k) { return pooled(x, k, w, kind); }});
        }
    }
    all.push_back({"filter",
                   [](const Tile<T> &x, Axis k) {
                       auto t = axis("t", 3);
                       auto weight = cast<T>(iota(t) + 1);
                       return cast<T>(ops::filter(x, weight, {k, t, 2, 1}));
                   },
                   [](const Tile<T> &x, Axis k) {
                       using C = ProductAccumulator<T, T>;
                       auto windows = axis("windows", ops::Window{3, 2, 1}.count(k.extent));
                       return cast<T>(by_elements<C>(windows, [&](const Scalar<int64_t> &o) {
                           Scalar<C> sum = C(0);
                           for (auto &p : serial(range(0, 3))) {
                               auto place = o * 2 - 1 + p.index();
                               Scalar<T> e = T(0.0f);
                               if_(place >= 0 && place < k.extent,
                                   [&] { e = element_of(x, place); });
                               sum = fma(cast<C>(e), cast<C>(p.index() + 1), sum);
                           }
                           return sum;
                       }));
                   }});
}

template<class T> void add_rotations(Functions<T> &all) {
    using C = ops::Compute<T>;
    for (bool split : {true, false}) {
        all.push_back({split ? "rope_half_split" : "rope_interleaved",
                       [=](const Tile<T> &x, Axis k) {
                           auto half = axis("half", k.extent / 2);
                           auto angle = cast<C>(iota(half)) * 0.25;
                           return k.extent % 2 ? x
                                  : split
                                      ? ops::rope_half_split(x, k, cos(angle), sin(angle), half)
                                      : ops::rope_interleaved(x, k, cos(angle), sin(angle), half);
                       },
                       [=](const Tile<T> &x, Axis k) {
                           if (k.extent % 2) {
                               return x;
                           }
                           auto v = ops::widen(x);
                           auto h = k.extent / 2;
                           return ops::narrow<T>(by_elements<C>(k, [&](const Scalar<int64_t> &j) {
                               auto pair = split ? j % h : j / 2;
                               auto second = split ? j >= h : j % 2 == 1;
                               auto first_place = split ? pair : pair * 2;
                               auto a = element_of(v, first_place);
                               auto b = element_of(v, first_place + (split ? h : 1));
                               auto t = cast<C>(pair) * 0.25;
                               return ite(second, b * cos(t) + a * sin(t), a * cos(t) - b * sin(t));
                           }));
                       }});
    }
}

template<class T> void add_products(Functions<T> &all) {
    using C = ProductAccumulator<T, T>;
    all.push_back({"dot",
                   [](const Tile<T> &x, Axis k) {
                       auto y = flip(x, k);
                       return cast<T>(dot(x, y) + zeros<C>(shape(axis("one", 1))));
                   },
                   [](const Tile<T> &x, Axis k) {
                       auto v = cast<C>(x);
                       Scalar<C> sum = C(0);
                       for (auto &i : serial(shape(k))) {
                           sum = fma(element_of(v, i.index()),
                                     element_of(v, -i.index() + (k.extent - 1)), sum);
                       }
                       return cast<T>(full<C>(shape(axis("one", 1)), sum));
                   }});
    all.push_back({"outer",
                   [](const Tile<T> &x, Axis k) {
                       auto square = outer(x, with_dims(x, {axis("other", k.extent)}));
                       return k.extent ? cast<T>(square.at(coord(k.extent / 2))) : x;
                   },
                   [](const Tile<T> &x, Axis k) {
                       auto v = cast<C>(x);
                       return cast<T>(by_elements<C>(k, [&](const Scalar<int64_t> &i) {
                           auto middle = element_of(v, Scalar<int64_t>{k.extent / 2});
                           return middle * element_of(v, i);
                       }));
                   }});
}

template<class T> Functions<T> functions() {
    Functions<T> all;
    add_row_functions(all);
    add_pair_functions(all);
    add_window_functions(all);
    add_rotations(all);
    add_products(all);
    return all;
}

constexpr int64_t rows = 11;
/// Rows that each hold what one kind of mistake would show on.
template<class T> View special_rows(int64_t n) {
    const float inf = INFINITY, nan = NAN;
    auto random = random_view({rows, std::max<int64_t>(n, 1)}, 31);
    std::vector<T> all;
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = 0; i < n; ++i) {
            auto x = static_cast<float>(at(random, r * n + i));
            const float values[rows] = {x,
                                        0.0f,
                                        -0.0f,
                                        -inf,
                                        i == n / 2 ? inf : x,
                                        i == 0 ? nan : x,
                                        i == n - 1 ? nan : x,
                                        x * (sizeof(T) == 2 ? 1e-7f : 1e-40f),
                                        i % 2 ? 200.0f : -200.0f,
                                        i % 3 ? 1e3f * x : -inf,
                                        i % 2 ? -0.0f : x * 30.0f};
            all.push_back(static_cast<T>(values[r]));
        }
    }
    return n ? dense<T>({rows, n}, all) : dense<T>({rows, 0}, {T(0.0f)});
}

template<class T> Kernel captured(const typename Function<T>::Row &f, int64_t n, int64_t *columns) {
    auto def = tile_kernel([=](TensorView<const T, 2> X, TensorView<T, 2> Y) {
        auto k = axis("k", n);
        for (auto &nest : parallel(shape(rows))) {
            auto x = reshape(X[coord(nest.index(), 0), shape(1, k)], shape(k));
            auto y = f(x, k);
            *columns = y.axis(0).extent;
            Y(coord(nest.index(), 0), shape(1, y.axis(0))).store(y);
        }
    });
    (void)def.capture(tensor_shape(rows, n),
                      tensor_shape(rows, 1));// says how many columns there are
    return def.capture(tensor_shape(rows, n), tensor_shape(rows, *columns));
}

template<class T> void check_length(int64_t n, double tolerance) {
    auto x = special_rows<T>(n);
    for (const auto &f : functions<T>()) {
        int64_t columns = 0, same_columns = 0;
        auto library = captured<T>(f.library, n, &columns);
        auto expansion = captured<T>(f.expansion, n, &same_columns);
        ASSERT_EQ(columns, same_columns) << f.name;
        auto got = run_both(library, {x, output_of<T>({rows, columns})}, {}, {tolerance, false});
        auto right = run_both(expansion, {x, output_of<T>({rows, columns})}, {},
                              {tolerance, false});
        EXPECT_TRUE(same(right[1], got[1], tolerance, 1)) << f.name << " of " << n;
    }
}

class Library : public ::testing::TestWithParam<int64_t> {};

}// namespace

TEST_P(Library, functions_equal_their_expansions_in_f32) { check_length<float>(GetParam(), 4e-6); }
TEST_P(Library, functions_equal_their_expansions_in_half) { check_length<half>(GetParam(), 2e-3); }
TEST_P(Library, functions_equal_their_expansions_in_f64) {
    check_length<double>(GetParam(), 1e-12);
}
INSTANTIATE_TEST_SUITE_P(Lengths, Library, ::testing::Values(0, 1, 6, 37));
