// SPDX-License-Identifier: Apache-2.0
// C = A · B in strict f32. The plain cases run the twenty-line source with 128×128×32 tiles; the
// suffixes name sources and layouts that say the same thing in another way:
//   -k48        other axis names and K steps of 48      -96x160    tiles of 96×160
//   -nt, -tn    B, A stored transposed                  -swapped   mma(b, a) in place of mma(a, b)
//   -serial, -reduce   K in a serial or reduce nest     -sum       a sum of products, no mma
//   -view       B is a transposed view: strides, and the plain source
#include "suites/narrow_products.h"

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
    bool words = true;///< another source than the plain one
    bool transpose_a = false, transpose_b = false, swapped = false, sum = false, view = false;
    Loop loop = Loop::PIPELINE;
};

const Variant plain{.words = false};
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

/// Beyond this many products the reference would take longer than all that is measured.
constexpr double most_products = 0x1p31;

/// What the variants of one size share: A [M, K], B [K, N] and their product in f64 unless that is too large.
struct Data {
    std::vector<float> a, b;
    std::vector<double> product;
    explicit Data(Size s) : a(static_cast<size_t>(s.m * s.k)), b(static_cast<size_t>(s.k * s.n)) {
        fill(a.data(), s.m * s.k, 1);
        fill(b.data(), s.k * s.n, 2);
        if (static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) >
            most_products) {
            return;
        }
        product.resize(static_cast<size_t>(s.m * s.n));
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

/// rows × columns times a vector.
template<class T>
std::vector<double> times(const T *matrix, int64_t rows, int64_t columns,
                          const std::vector<double> &v) {
    std::vector<double> out(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
            out[static_cast<size_t>(i)] += static_cast<double>(matrix[i * columns + j]) *
                                           v[static_cast<size_t>(j)];
        }
    }
    return out;
}

/// C against A · B: element by element where their product is known, else C · v against A · (B · v) with random signs
/// v. There a wrong element changes its row by about its own size, and rounding errors add up no faster than values.
double error_of(const Mirror<float, 2> &c, const Data &data, Size s) {
    if (!data.product.empty()) {
        return max_error(c, data.product);
    }
    c.pull();
    std::vector<float> signs(static_cast<size_t>(s.n));
    fill(signs.data(), s.n, 3);
    std::vector<double> v(signs.size());
    std::transform(signs.begin(), signs.end(), v.begin(),
                   [](float x) { return x < 0 ? -1.0 : 1.0; });
    auto expected = times(data.a.data(), s.m, s.k, times(data.b.data(), s.k, s.n, v));
    auto got = times(c.host(), s.m, s.n, v);
    double worst = 0, largest = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        auto error = std::fabs(got[i] - expected[i]);
        worst = error <= worst ? worst : std::isnan(error) ? HUGE_VAL : error;
        largest = std::max(largest, std::fabs(expected[i]));
    }
    return worst / largest;
}

/// [rows, columns] as it is, or stored transposed.
Mirror<float, 2> upload(const Device &device, const std::vector<float> &values, int64_t rows,
                        int64_t columns, bool transposed) {
    auto stored = transposed ? Mirror<float, 2>{device, columns, rows}
                             : Mirror<float, 2>{device, rows, columns};
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
            stored.host()[transposed ? j * rows + i : i * columns + j] =
                values[static_cast<size_t>(i * columns + j)];
        }
    }
    stored.push();
    return stored;
}

Subject prepare(const Device &device, Size s, const Variant &v) {
    const auto &data = data_of(s);
    auto a = upload(device, data.a, s.m, s.k, v.transpose_a);
    auto b = upload(device, data.b, s.k, s.n, v.transpose_b);
    const Mirror<float, 2> c{device, s.m, s.n};
    const auto &at = a.tensor(), &bt = b.tensor(), &ct = c.tensor();
    auto subject = v.words ? make_subject(device, variant_source(v), at,
                                          v.view ? bt.transposed(0, 1) : bt, ct)
                           : make_subject(device, plain_source(v.bm, v.bn, v.bk), at, bt, ct);
    GemmProblem problem{s.m, s.n, s.k, v.transpose_a, v.transpose_b, a.host(), b.host(), c.host()};
    if (v.words) {
        subject.base = [=] { return prepare(device, s, plain).ours; };
    }
    // The tensors live as long as the call that uses their memory.
    subject.peer = [=, keep = std::make_tuple(a, b, c)](Peer &peer) { return peer.call(problem); };
    subject.error = [&data, c, s] { return error_of(c, data, s); };
    subject.poison = [c] { fill_nan(c); };
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
        all.push_back(make_case(s, plain));
    }
    for (Size s : {Size{1000, 1000, 1000}, {1024, 1024, 1024}}) {
        for (const auto &v : variants) {
            all.push_back(make_case(s, v));
        }
    }
    add_narrow_products(all);
    return all;
}

/// Tiles of two sizes each: what a block of threads holds differs from what a core does.
std::vector<Case> gpu_cases() {
    std::vector<Case> all;
    for (Size s : {Size{1024, 1024, 1024},
                   {2048, 2048, 2048},
                   {4096, 4096, 4096},
                   {2047, 2049, 2051},
                   {127, 129, 131},
                   {33, 31, 65},
                   {7, 5, 3},
                   {1, 1, 1}}) {
        all.push_back(make_case(s, plain));
        all.push_back(make_case(s, {.suffix = "-64x64", .bm = 64, .bn = 64, .words = false}));
    }
    return all;
}

/// Few rows of activations times large weights, which are read once: memory is the limit, for 16 rows arithmetic as well.
std::vector<Case> thin_cases() {
    std::vector<Case> all;
    auto add = [&](Size s) {
        int rows = static_cast<int>(std::min<int64_t>(s.m, 16));
        all.push_back(make_case(s, {.bm = rows, .bn = 2048, .loop = Loop::REDUCE}));
        all.push_back(make_case(s, {.suffix = "-nt",
                                    .bm = rows,
                                    .bn = 64,
                                    .bk = 64,
                                    .transpose_b = true,
                                    .loop = Loop::REDUCE}));
    };
    for (int64_t m : {1, 4, 16}) {
        add({m, 4096, 4096});
    }
    add({1, 1000, 777});
    add({3, 5003, 1001});
    return all;
}

const Registered thin{{"thin", "f32 products of few rows and large weights", thin_cases}};

const Registered gemm{
    {"gemm", "matrix products in strict f32, of bf16 and of int8", cases, gpu_cases}};

}// namespace

}// namespace bench
