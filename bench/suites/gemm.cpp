// SPDX-License-Identifier: Apache-2.0
// C = A · B in strict f32. The plain cases run the twenty-line source with 128×128×32 tiles; the
// suffixes name sources and layouts that say the same thing in another way:
//   -k48        other axis names and K steps of 48      -96x160    tiles of 96×160
//   -nt, -tn    B, A stored transposed                  -swapped   mma(b, a) in place of mma(a, b)
//   -serial, -reduce   K in a serial or reduce nest     -sum       a sum of products, no mma
//   -view       B is a transposed view: strides, and the plain source
#include "suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace bench {

namespace {

using namespace luisa::tile;

enum class Loop { PIPELINE, SERIAL, REDUCE };

struct Variant {
    const char *suffix = "";
    int bm = 128, bn = 128, bk = 32;
    bool transpose_a = false, transpose_b = false, swapped = false, sum = false, view = false;
    Loop loop = Loop::PIPELINE;
};

const std::vector<Variant> variants{
    {.suffix = "-k48", .bk = 48},
    {.suffix = "-96x160", .bm = 96, .bn = 160},
    {.suffix = "-nt", .transpose_b = true},
    {.suffix = "-tn", .transpose_a = true},
    {.suffix = "-tt", .transpose_a = true, .transpose_b = true},
    {.suffix = "-view", .transpose_b = true, .view = true},
    {.suffix = "-swapped", .swapped = true},
    {.suffix = "-serial", .loop = Loop::SERIAL},
    {.suffix = "-reduce", .loop = Loop::REDUCE},
    {.suffix = "-sum", .sum = true},
};

auto plain_source(int bm, int bn, int bk) {
    return tile_kernel([=](TensorView<const float, 2> A, TensorView<const float, 2> B,
                           TensorView<float, 2> C) {
        auto m = axis("m", bm), n = axis("n", bn), k = axis("k", bk);
        for (auto &nest : parallel(shape(ceil_div(C.extent(0), bm), ceil_div(C.extent(1), bn)))) {
            auto m0 = nest.index(0) * bm, n0 = nest.index(1) * bn;
            auto acc = zeros<float>(shape(m, n));
            for (auto &step : nest.pipeline(range(0, A.extent(1), bk))) {
                auto k0 = step.index();
                step.stage("load");
                auto a = A[coord(m0, k0), shape(m, k)];
                auto b = B[coord(k0, n0), shape(k, n)];
                step.stage("compute");
                acc = mma(a, b, acc);
            }
            C(coord(m0, n0), shape(m, n)).store(acc);
        }
    });
}

/// The same product in the words of a variant, with axis names that no other source has.
auto variant_source(Variant v) {
    return tile_kernel([=](TensorView<const float, 2> left, TensorView<const float, 2> right,
                           TensorView<float, 2> out) {
        auto row = axis("row", v.bm), col = axis("col", v.bn), inner = axis("inner", v.bk);
        auto depth = left.extent(v.transpose_a ? 0 : 1);
        for (auto &tile :
             parallel(shape(ceil_div(out.extent(0), v.bm), ceil_div(out.extent(1), v.bn)))) {
            auto r = tile.index(0) * v.bm, c = tile.index(1) * v.bn;
            auto total = zeros<float>(shape(row, col));
            auto add_part = [&](const Scalar<int64_t> &d) {
                auto x = v.transpose_a ? left[coord(d, r), shape(inner, row)]
                                       : left[coord(r, d), shape(row, inner)];
                auto y = v.transpose_b && !v.view ? right[coord(c, d), shape(col, inner)]
                                                  : right[coord(d, c), shape(inner, col)];
                if (v.sum) {
                    total += reduce(x * y, inner, add);
                } else {
                    total = v.swapped ? mma(y, x, total) : mma(x, y, total);
                }
            };
            auto steps = range(0, depth, v.bk);
            if (v.loop == Loop::SERIAL) {
                for (auto &step : tile.serial(steps)) {
                    add_part(step.index());
                }
            } else if (v.loop == Loop::REDUCE) {
                for (auto &step : tile.reduce(steps)) {
                    add_part(step.index());
                }
            } else {
                for (auto &step : tile.pipeline(steps)) {
                    add_part(step.index());
                }
            }
            out(coord(r, c), shape(row, col)).store(total);
        }
    });
}

struct Size {
    int64_t m, n, k;
    auto operator<=>(const Size &) const = default;
};

/// What the variants of one size share: A [M, K], B [K, N] and their product in f64.
struct Data {
    std::vector<float> a, b;
    std::vector<double> product;
    explicit Data(Size s)
        : a(static_cast<size_t>(s.m * s.k)), b(static_cast<size_t>(s.k * s.n)),
          product(static_cast<size_t>(s.m * s.n)) {
        fill(a.data(), s.m * s.k, 1);
        fill(b.data(), s.k * s.n, 2);
        // Blocks of B's rows stay in cache while every row of A passes.
        constexpr int64_t block = 64;
        for (int64_t k0 = 0; k0 < s.k; k0 += block) {
            for (int64_t i = 0; i < s.m; ++i) {
                auto *out = &product[static_cast<size_t>(i * s.n)];
                for (int64_t k = k0; k < std::min(s.k, k0 + block); ++k) {
                    const double x = a[static_cast<size_t>(i * s.k + k)];
                    const auto *y = &b[static_cast<size_t>(k * s.n)];
                    for (int64_t j = 0; j < s.n; ++j) {
                        out[j] += x * static_cast<double>(y[j]);
                    }
                }
            }
        }
    }
};

const Data &data_of(Size size) {
    static std::map<Size, Data> known;
    return known.try_emplace(size, size).first->second;
}

/// [rows, columns] as it is, or stored transposed.
Tensor<float, 2> upload(const Device &device, const std::vector<float> &values, int64_t rows,
                        int64_t columns, bool transposed) {
    auto stored = transposed ? make_tensor<float>(device, columns, rows)
                             : make_tensor<float>(device, rows, columns);
    auto view = transposed ? stored.transposed(0, 1) : stored;
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
            view.at(i, j) = values[static_cast<size_t>(i * columns + j)];
        }
    }
    return stored;
}

Subject prepare(const Device &device, Size s, const Variant &v) {
    const auto &data = data_of(s);
    auto a = upload(device, data.a, s.m, s.k, v.transpose_a);
    auto b = upload(device, data.b, s.k, s.n, v.transpose_b);
    auto c = make_tensor<float>(device, s.m, s.n);
    auto subject = *v.suffix ? make_subject(device, variant_source(v), a,
                                            v.view ? b.transposed(0, 1) : b, c)
                             : make_subject(device, plain_source(v.bm, v.bn, v.bk), a, b, c);
    GemmProblem problem{s.m, s.n, s.k, v.transpose_a, v.transpose_b, a.data(), b.data(), c.data()};
    if (*v.suffix) {
        subject.base = [=] { return prepare(device, s, {}).ours; };
    }
    // The tensors live as long as the call that uses their memory.
    subject.peer = [=, keep = std::make_tuple(a, b, c)](Peer &peer) { return peer.call(problem); };
    subject.error = [&data, c] { return max_error(c.data(), data.product); };
    subject.poison = [c] { fill_nan(c.data(), c.size()); };
    return subject;
}

Case make_case(Size s, const Variant &v) {
    auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
    return {.name = fmt::format("{}x{}x{}{}", s.m, s.n, s.k, v.suffix),
            .dtype = "f32",
            .work = {.flops = 2 * m * n * k, .bytes = 4 * (m * k + k * n + m * n)},
            // Rounding errors that add up like a random walk, generously.
            .tolerance = 2e-7 * (std::sqrt(k) + 4),
            .prepare = [=](const Device &device) { return prepare(device, s, v); }};
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (Size s : {Size{256, 256, 256},
                   {512, 512, 512},
                   {1000, 1000, 1000},
                   {1024, 1024, 1024},
                   {1, 1, 1},
                   {7, 5, 3},
                   {127, 129, 131},
                   {64, 4096, 64},
                   {2048, 2048, 64}}) {
        all.push_back(make_case(s, {}));
    }
    for (Size s : {Size{1000, 1000, 1000}, {1024, 1024, 1024}}) {
        for (const auto &v : variants) {
            all.push_back(make_case(s, v));
        }
    }
    return all;
}

const Registered gemm{{"gemm", "matrix products in strict f32", cases}};

}// namespace

}// namespace bench
