// SPDX-License-Identifier: Apache-2.0
// Softmax, LayerNorm and RMSNorm over the rows of an f32 matrix, one row an instance.
#include "suite.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

namespace bench {

namespace {

using namespace luisa::tile;

constexpr float epsilon = 1e-5f;

auto softmax_source() {
    return tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto c = axis("col", X.extent(1));
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto row = nest.index();
            auto x = X[coord(row, 0), shape(1, c)];
            auto e = exp(x - reduce(x, c, maximum));
            Y(coord(row, 0), shape(1, c)).store(e / reduce(e, c, add));
        }
    });
}

auto layernorm_source() {
    return tile_kernel([](TensorView<const float, 2> X, TensorView<const float, 1> gain,
                          TensorView<const float, 1> shift, TensorView<float, 2> Y,
                          Scalar<float> eps) {
        auto c = axis("col", X.extent(1));
        const float n = static_cast<float>(int64_t(X.extent(1)));
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto row = nest.index();
            auto x = X[coord(row, 0), shape(1, c)];
            auto centred = x - reduce(x, c, add) / n;
            auto variance = reduce(centred * centred, c, add) / n;
            auto g = gain[coord(0), shape(c)], s = shift[coord(0), shape(c)];
            Y(coord(row, 0), shape(1, c)).store(centred * rsqrt(variance + eps) * g + s);
        }
    });
}

auto rmsnorm_source() {
    return tile_kernel([](TensorView<const float, 2> X, TensorView<const float, 1> gain,
                          TensorView<float, 2> Y, Scalar<float> eps) {
        auto c = axis("col", X.extent(1));
        const float n = static_cast<float>(int64_t(X.extent(1)));
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto row = nest.index();
            auto x = X[coord(row, 0), shape(1, c)];
            auto scale = rsqrt(reduce(x * x, c, add) / n + eps);
            Y(coord(row, 0), shape(1, c)).store(x * scale * gain[coord(0), shape(c)]);
        }
    });
}

struct Arrays {
    Mirror<float, 2> x, y;
    Mirror<float, 1> gain, shift;
};

/// One row in f64.
void reference_row(RowsKind kind, const float *x, const Arrays &t, int64_t n, double *out) {
    double sum = 0, squares = 0, spread = 0, top = -HUGE_VAL, exps = 0;
    auto count = static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) {
        const double v = x[i];
        sum += v;
        squares += v * v;
        top = std::max(top, v);
    }
    for (int64_t i = 0; i < n; ++i) {
        const double v = x[i];
        spread += (v - sum / count) * (v - sum / count);
        exps += kind == RowsKind::SOFTMAX ? std::exp(v - top) : 0;
    }
    for (int64_t i = 0; i < n; ++i) {
        const double v = x[i], g = t.gain.host()[i], s = t.shift.host()[i];
        const auto eps = static_cast<double>(epsilon);
        out[i] = kind == RowsKind::SOFTMAX ? std::exp(v - top) / exps
                 : kind == RowsKind::LAYERNORM
                     ? (v - sum / count) / std::sqrt(spread / count + eps) * g + s
                     : v / std::sqrt(squares / count + eps) * g;
    }
}

std::vector<double> reference(RowsKind kind, const Arrays &t) {
    auto rows = t.x.extent(0), columns = t.x.extent(1);
    std::vector<double> all(static_cast<size_t>(rows * columns));
    for (int64_t r = 0; r < rows; ++r) {
        reference_row(kind, t.x.host() + r * columns, t, columns,
                      &all[static_cast<size_t>(r * columns)]);
    }
    return all;
}

Subject compile(const Device &device, RowsKind kind, const Arrays &t) {
    const auto &x = t.x.tensor(), &y = t.y.tensor();
    switch (kind) {
        case RowsKind::SOFTMAX: return make_subject(device, softmax_source(), x, y);
        case RowsKind::LAYERNORM:
            return make_subject(device, layernorm_source(), x, t.gain.tensor(), t.shift.tensor(), y,
                                epsilon);
        default: return make_subject(device, rmsnorm_source(), x, t.gain.tensor(), y, epsilon);
    }
}

Subject prepare(const Device &device, RowsKind kind, int64_t rows, int64_t columns) {
    Arrays t{Mirror<float, 2>{device, rows, columns}, Mirror<float, 2>{device, rows, columns},
             Mirror<float, 1>{device, columns}, Mirror<float, 1>{device, columns}};
    fill(t.x, 1);
    fill(t.gain, 2);
    fill(t.shift, 3);
    auto subject = compile(device, kind, t);
    RowsProblem problem{kind,          rows,           columns,    t.x.host(),
                        t.gain.host(), t.shift.host(), t.y.host(), epsilon};
    subject.peer = [=](Peer &peer) { return peer.call(problem); };
    auto expected = std::make_shared<std::vector<double>>(reference(kind, t));
    subject.error = [t, expected] { return max_error(t.y, *expected); };
    subject.poison = [t] { fill_nan(t.y); };
    return subject;
}

using Sizes = std::vector<std::array<int64_t, 2>>;

std::vector<Case> cases_of(const Sizes &sizes) {
    struct Kernel {
        const char *name;
        RowsKind kind;
    };
    std::vector<Case> all;
    for (auto [name, kind] : {Kernel{"softmax", RowsKind::SOFTMAX},
                              {"layernorm", RowsKind::LAYERNORM},
                              {"rmsnorm", RowsKind::RMSNORM}}) {
        for (auto [rows, columns] : sizes) {
            all.push_back(
                {.name = fmt::format("{}x{}-{}", rows, columns, name),
                 .dtype = "f32",
                 .work = {.bytes = 8.0 * static_cast<double>(rows * columns)},
                 .tolerance = 1e-5,
                 .prepare = [=, kind = kind, rows = rows, columns = columns](const Device &d) {
                     return prepare(d, kind, rows, columns);
                 }});
        }
    }
    return all;
}

std::vector<Case> cases() { return cases_of({{257, 1538}, {1024, 4097}, {4096, 256}, {7, 5}}); }
std::vector<Case> gpu_cases() {
    return cases_of({{4096, 4096},
                     {16384, 1024},
                     {1024, 16384},
                     {32768, 4096},
                     {4095, 4097},
                     {257, 1538},
                     {33, 129},
                     {7, 5}});
}

const Registered rows{{"rows", "softmax, LayerNorm and RMSNorm over rows", cases, gpu_cases}};

}// namespace

}// namespace bench
