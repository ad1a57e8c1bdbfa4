// SPDX-License-Identifier: Apache-2.0
// What transformers do between their products, over the rows of f32 and bf16 matrices.
#include "suite.h"

#include <luisa/tile/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace bench {

namespace {

using namespace luisa::tile;

constexpr double epsilon = 1e-5;

/// A kernel that makes one row of the result from one row of each argument.
template<class T, class F> auto by_rows(F f) {
    return tile_kernel([f](TensorView<const T, 2> X, TensorView<const T, 2> Z, TensorView<T, 2> Y) {
        auto c = axis("col", X.extent(1));
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto at = coord(nest.index(), 0);
            auto x = cast<float>(X[at, shape(1, c)]), z = cast<float>(Z[at, shape(1, c)]);
            Y(at, shape(1, c)).store(cast<T>(f(x, z, c)));
        }
    });
}

/// The second argument has two rows for all: what an element is multiplied with, and what is added.
template<class T, class F> auto by_rows_with_weights(F f) {
    return tile_kernel([f](TensorView<const T, 2> X, TensorView<const T, 2> W, TensorView<T, 2> Y) {
        auto c = axis("col", X.extent(1));
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto at = coord(nest.index(), 0);
            auto weight = cast<float>(W[coord(0, 0), shape(1, c)]),
                 bias = cast<float>(W[coord(1, 0), shape(1, c)]);
            Y(at, shape(1, c)).store(cast<T>(f(cast<float>(X[at, shape(1, c)]), weight, bias, c)));
        }
    });
}

/// Elements whose mask is not positive do not count.
template<class T> auto masked_softmax_source() {
    return by_rows<T>([](const Tile<float> &x, const Tile<float> &mask, const Axis &c) {
        return ops::softmax(ite(mask > 0.0f, x, -std::numeric_limits<float>::infinity()), c);
    });
}

template<class T> auto rope_source() {
    return tile_kernel([](TensorView<const T, 2> X, TensorView<const T, 2> A, TensorView<T, 2> Y) {
        auto half = X.extent(1) / 2;
        auto h = axis("half", half);
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto row = nest.index();
            auto read = [&](auto &view, const auto &column) {
                return cast<float>(view[coord(row, column), shape(1, h)]);
            };
            auto low = read(X, 0), high = read(X, half), c = read(A, 0), s = read(A, half);
            Y(coord(row, 0), shape(1, h)).store(cast<T>(low * c - high * s));
            Y(coord(row, half), shape(1, h)).store(cast<T>(high * c + low * s));
        }
    });
}

template<class T> auto cross_entropy_source() {
    return tile_kernel(
        [](TensorView<const T, 2> X, TensorView<const int64_t, 1> labels, TensorView<float, 1> Y) {
            auto c = axis("class", X.extent(1));
            for (auto &nest : parallel(shape(X.extent(0)))) {
                auto row = nest.index();
                auto label = labels[coord(row), shape(1)];
                auto x = cast<float>(X[coord(row, 0), shape(1, c)]);
                Y(coord(row), shape(1)).store(ops::cross_entropy(x, label, c));
            }
        });
}

struct Row {
    const double *x, *z;///< of the first and the second argument
    const double *weight, *bias;
    int64_t n, label;
};

double gelu_of(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }

void reference_softmax(const Row &row, bool masked, double *out) {
    double top = -HUGE_VAL, sum = 0;
    auto at = [&](int64_t i) { return masked && !(row.z[i] > 0) ? -HUGE_VAL : row.x[i]; };
    for (int64_t i = 0; i < row.n; ++i) {
        top = std::max(top, at(i));
    }
    for (int64_t i = 0; i < row.n; ++i) {
        sum += out[i] = std::exp(at(i) - top);
    }
    for (int64_t i = 0; i < row.n; ++i) {
        out[i] /= sum;
    }
}

void reference_norm(const Row &row, bool centre, double *out) {
    double mean = 0, spread = 0;
    auto n = static_cast<double>(row.n);
    for (int64_t i = 0; centre && i < row.n; ++i) {
        mean += row.x[i] / n;
    }
    for (int64_t i = 0; i < row.n; ++i) {
        spread += (row.x[i] - mean) * (row.x[i] - mean) / n;
    }
    for (int64_t i = 0; i < row.n; ++i) {
        out[i] = (row.x[i] - mean) / std::sqrt(spread + epsilon) * row.weight[i] +
                 (centre ? row.bias[i] : 0);
    }
}

void reference_row(FusedKind kind, const Row &row, double *out) {
    auto half = row.n / 2;
    switch (kind) {
        case FusedKind::SOFTMAX: return reference_softmax(row, false, out);
        case FusedKind::MASKED_SOFTMAX: return reference_softmax(row, true, out);
        case FusedKind::LAYERNORM: return reference_norm(row, true, out);
        case FusedKind::RMSNORM: return reference_norm(row, false, out);
        case FusedKind::GELU_RESIDUAL:
            for (int64_t i = 0; i < row.n; ++i) {
                out[i] = gelu_of(row.x[i]) + row.z[i];
            }
            return;
        case FusedKind::SWIGLU:
            for (int64_t i = 0; i < row.n; ++i) {
                out[i] = row.x[i] / (1 + std::exp(-row.x[i])) * row.z[i];
            }
            return;
        case FusedKind::ROPE:
            for (int64_t i = 0; i < half; ++i) {
                out[i] = row.x[i] * row.z[i] - row.x[half + i] * row.z[half + i];
                out[half + i] = row.x[half + i] * row.z[i] + row.x[i] * row.z[half + i];
            }
            return;
        case FusedKind::CROSS_ENTROPY: {
            double sum = 0;
            for (int64_t i = 0; i < row.n; ++i) {
                sum += std::exp(row.x[i]);
            }
            *out = std::log(sum) - row.x[row.label];
        }
    }
}

/// What is measured and what it is measured with; `z` has as many rows as x, or two, or none.
template<class T> struct Arrays {
    Mirror<T, 2> x, z;
    Mirror<int64_t, 1> labels;
    Mirror<T, 2> y;
    Mirror<float, 1> losses;
};

template<class T> std::vector<double> numbers(const Mirror<T, 2> &t) {
    std::vector<double> all(static_cast<size_t>(t.size()));
    for (size_t i = 0; i < all.size(); ++i) {
        all[i] = static_cast<double>(static_cast<float>(t.host()[i]));
    }
    return all;
}

template<class T>
std::vector<double> reference(FusedKind kind, const Arrays<T> &t, int64_t rows, int64_t columns) {
    auto x = numbers(t.x), z = numbers(t.z);
    bool weights = kind == FusedKind::LAYERNORM || kind == FusedKind::RMSNORM;
    int64_t width = kind == FusedKind::CROSS_ENTROPY ? 1 : columns;
    std::vector<double> all(static_cast<size_t>(rows * width));
    for (int64_t r = 0; r < rows; ++r) {
        Row row{&x[static_cast<size_t>(r * columns)],
                nullptr,
                z.data(),
                z.data() + columns,
                columns,
                t.labels.host()[r]};
        row.z = z.data() + (weights ? 0 : r * columns);
        reference_row(kind, row, &all[static_cast<size_t>(r * width)]);
    }
    return all;
}

template<class T> void fill_rounded(const Mirror<T, 2> &t, uint32_t seed) {
    std::vector<float> values(static_cast<size_t>(t.size()));
    fill(values.data(), t.size(), seed);
    for (size_t i = 0; i < values.size(); ++i) {
        t.host()[i] = static_cast<T>(4 * values[i]);
    }
    t.push();
}

template<class T> Subject compile(const Device &device, FusedKind kind, const Arrays<T> &t) {
    auto make = [&](const auto &source) {
        return make_subject(device, source, t.x.tensor(), t.z.tensor(), t.y.tensor());
    };
    using F = Tile<float>;
    switch (kind) {
        case FusedKind::SOFTMAX:
            return make(by_rows<T>(
                [](const F &x, const F &, const Axis &c) { return ops::softmax(x, c); }));
        case FusedKind::MASKED_SOFTMAX: return make(masked_softmax_source<T>());
        case FusedKind::LAYERNORM:
            return make(by_rows_with_weights<T>(
                [](const F &x, const F &weight, const F &bias, const Axis &c) {
                    return ops::layer_norm(x, c, weight, bias, epsilon);
                }));
        case FusedKind::RMSNORM:
            return make(
                by_rows_with_weights<T>([](const F &x, const F &weight, const F &, const Axis &c) {
                    return ops::rms_norm(x, c, weight, epsilon);
                }));
        case FusedKind::GELU_RESIDUAL:
            return make(
                by_rows<T>([](const F &x, const F &z, const Axis &) { return gelu(x) + z; }));
        case FusedKind::SWIGLU:
            return make(
                by_rows<T>([](const F &x, const F &z, const Axis &) { return ops::swiglu(x, z); }));
        case FusedKind::ROPE: return make(rope_source<T>());
        default:
            return make_subject(device, cross_entropy_source<T>(), t.x.tensor(), t.labels.tensor(),
                                t.losses.tensor());
    }
}

template<class T>
Subject prepare(const Device &device, FusedKind kind, int64_t rows, int64_t columns) {
    bool weights = kind == FusedKind::LAYERNORM || kind == FusedKind::RMSNORM;
    Arrays<T> t{Mirror<T, 2>{device, rows, columns},
                Mirror<T, 2>{device, weights ? int64_t{2} : rows, columns},
                Mirror<int64_t, 1>{device, rows}, Mirror<T, 2>{device, rows, columns},
                Mirror<float, 1>{device, rows}};
    fill_rounded(t.x, 1);
    fill_rounded(t.z, 2);
    for (int64_t r = 0; r < rows; ++r) {
        t.labels.host()[r] = r * 7919 % columns;
    }
    t.labels.push();
    auto subject = compile(device, kind, t);
    bool entropy = kind == FusedKind::CROSS_ENTROPY;
    FusedProblem problem{kind,
                         sizeof(T) == 2,
                         rows,
                         columns,
                         t.x.host(),
                         t.z.host(),
                         t.labels.host(),
                         entropy ? static_cast<void *>(t.losses.host()) : t.y.host()};
    subject.peer = [t, problem](Peer &peer) { return peer.call(problem); };
    auto expected = std::make_shared<std::vector<double>>(reference(kind, t, rows, columns));
    subject.error = [t, expected, entropy] {
        if (entropy) {
            return max_error(t.losses, *expected);
        }
        t.y.pull();
        std::vector<float> values(expected->size());
        std::transform(t.y.host(), t.y.host() + t.y.size(), values.begin(),
                       [](T value) { return static_cast<float>(value); });
        return max_error(values.data(), *expected);
    };
    subject.poison = [t] {
        fill_nan(t.losses);
        std::fill_n(t.y.host(), t.y.size(), static_cast<T>(std::nanf("")));
        t.y.push();
    };
    return subject;
}

struct Family {
    const char *name;
    FusedKind kind;
    double tiles;///< of the matrix's size that are read or written
};
constexpr Family families[] = {
    {"softmax", FusedKind::SOFTMAX, 2},
    {"masked-softmax", FusedKind::MASKED_SOFTMAX, 3},
    {"layernorm", FusedKind::LAYERNORM, 2},
    {"rmsnorm", FusedKind::RMSNORM, 2},
    {"gelu-residual", FusedKind::GELU_RESIDUAL, 3},
    {"swiglu", FusedKind::SWIGLU, 3},
    {"rope", FusedKind::ROPE, 3},
    {"cross-entropy", FusedKind::CROSS_ENTROPY, 1},
};

using Sizes = std::vector<std::array<int64_t, 2>>;

std::vector<Case> cases_of(const Sizes &sizes) {
    std::vector<Case> all;
    for (const auto &family : families) {
        for (bool narrow : {false, true}) {
            for (auto [rows, width] : sizes) {
                // Pairs need an even number of columns.
                auto columns = family.kind == FusedKind::ROPE ? width / 2 * 2 : width;
                auto bytes = family.tiles * static_cast<double>(rows * columns);
                auto run = [kind = family.kind, rows = rows, columns, narrow](const Device &d) {
                    return narrow ? prepare<bfloat16>(d, kind, rows, columns)
                                  : prepare<float>(d, kind, rows, columns);
                };
                all.push_back({.name = fmt::format("{}x{}-{}{}", rows, columns, family.name,
                                                   narrow ? "-bf16" : ""),
                               .dtype = narrow ? "bf16" : "f32",
                               .work = {.bytes = bytes * (narrow ? 2 : 4)},
                               .tolerance = narrow ? 2e-2 : 1e-5,
                               .prepare = run});
            }
        }
    }
    return all;
}

std::vector<Case> cases() { return cases_of({{17, 65}, {129, 768}, {257, 1538}, {1024, 4097}}); }
std::vector<Case> gpu_cases() {
    return cases_of(
        {{4096, 4096}, {16384, 1024}, {1024, 16384}, {4095, 4097}, {257, 1538}, {17, 65}});
}

const Registered fused{
    {"fused", "what lies between products, over rows of f32 and bf16", cases, gpu_cases}};

}// namespace

}// namespace bench
