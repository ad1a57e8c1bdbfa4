// SPDX-License-Identifier: Apache-2.0
// C = A · B of narrow elements with sums of 32 bits: the source of the f32 cases, in other types. `-nt`: B is
// stored [N, K]. The limit that is told is that of memory: how fast instructions multiply narrow elements is not measured.
#include "suites/narrow_products.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

namespace bench {

namespace {

using namespace luisa::tile;

struct Shape {
    int64_t m, n, k;
    bool transpose_b = false;
    auto operator<=>(const Shape &) const = default;
};

template<class T> using SumOf = std::conditional_t<std::is_same_v<T, int8_t>, int32_t, float>;

template<class T> auto source(bool transpose_b, int bm, int bn, int bk) {
    using Sum = SumOf<T>;
    return tile_kernel([=](TensorView<const T, 2> A, TensorView<const T, 2> B,
                           TensorView<Sum, 2> C) {
        auto m = axis("m", bm), n = axis("n", bn), k = axis("k", bk);
        for (auto &nest : parallel(shape(ceil_div(C.extent(0), bm), ceil_div(C.extent(1), bn)))) {
            auto m0 = nest.index(0) * bm, n0 = nest.index(1) * bn;
            auto acc = zeros<Sum>(shape(m, n));
            for (auto &step : nest.pipeline(range(0, A.extent(1), bk))) {
                auto k0 = step.index();
                auto a = A[coord(m0, k0), shape(m, k)];
                auto b = transpose_b ? B[coord(n0, k0), shape(n, k)]
                                     : B[coord(k0, n0), shape(k, n)];
                acc = mma(a, b, acc);
            }
            C(coord(m0, n0), shape(m, n)).store(acc);
        }
    });
}

/// What all runs of one shape share: operands and their product in f64, B as it is stored.
template<class T> struct Data {
    std::vector<T> a, b;
    std::vector<double> product;
    explicit Data(Shape s)
        : a(random(s.m * s.k, 1)), b(random(s.k * s.n, 2)),
          product(static_cast<size_t>(s.m * s.n)) {
        std::vector<float> row(static_cast<size_t>(s.n * s.k));
        for (int64_t k = 0; k < s.k; ++k) {
            for (int64_t j = 0; j < s.n; ++j) {
                row[static_cast<size_t>(k * s.n + j)] = static_cast<float>(
                    b[static_cast<size_t>(s.transpose_b ? j * s.k + k : k * s.n + j)]);
            }
        }
        constexpr int64_t block = 64;
        for (int64_t k0 = 0; k0 < s.k; k0 += block) {
            for (int64_t i = 0; i < s.m; ++i) {
                auto *out = &product[static_cast<size_t>(i * s.n)];
                for (int64_t k = k0; k < std::min(s.k, k0 + block); ++k) {
                    const auto x = static_cast<double>(
                        static_cast<float>(a[static_cast<size_t>(i * s.k + k)]));
                    const auto *y = &row[static_cast<size_t>(k * s.n)];
                    for (int64_t j = 0; j < s.n; ++j) {
                        out[j] += x * static_cast<double>(y[j]);
                    }
                }
            }
        }
    }
    static std::vector<T> random(int64_t count, uint32_t seed) {
        std::vector<float> values(static_cast<size_t>(count));
        fill(values.data(), count, seed);
        std::vector<T> narrow;
        narrow.reserve(values.size());
        for (auto x : values) {
            narrow.push_back(static_cast<T>(std::is_same_v<T, int8_t> ? 127 * x : x));
        }
        return narrow;
    }
};

template<class T> const Data<T> &data_of(Shape shape) {
    static std::map<Shape, Data<T>> known;
    return known.try_emplace(shape, shape).first->second;
}

template<class Sum> double error_of(const Tensor<Sum, 2> &c, const std::vector<double> &expected) {
    double worst = 0, largest = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        auto error = std::fabs(static_cast<double>(c.data()[i]) - expected[i]);
        if (!(error <= std::numeric_limits<double>::max())) {
            return std::numeric_limits<double>::infinity();
        }
        worst = std::max(worst, error);
        largest = std::max(largest, std::fabs(expected[i]));
    }
    return worst / largest;
}

template<class T> Subject prepare(const Device &device, Shape s) {
    using Sum = SumOf<T>;
    const auto &data = data_of<T>(s);
    auto a = make_tensor<T>(device, s.m, s.k);
    auto b = s.transpose_b ? make_tensor<T>(device, s.n, s.k) : make_tensor<T>(device, s.k, s.n);
    auto c = make_tensor<Sum>(device, s.m, s.n);
    std::memcpy(a.data(), data.a.data(), data.a.size() * sizeof(T));
    std::memcpy(b.data(), data.b.data(), data.b.size() * sizeof(T));
    int bm = s.m <= 16 ? 16 : 128, bk = std::is_same_v<T, int8_t> ? 64 : 32;
    auto subject = make_subject(device, source<T>(s.transpose_b, bm, 128, bk), a, b, c);
    NarrowGemmProblem problem{
        !std::is_same_v<T, int8_t>, s.m, s.n, s.k, s.transpose_b, a.data(), b.data(), c.data()};
    subject.peer = [=, keep = std::make_tuple(a, b, c)](Peer &peer) { return peer.call(problem); };
    subject.error = [&data, c] { return error_of(c, data.product); };
    subject.poison = [c] { std::memset(c.data(), 0x7f, static_cast<size_t>(c.size()) * 4); };
    return subject;
}

template<class T> Case make_case(Shape s) {
    auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
    bool integers = std::is_same_v<T, int8_t>;
    return {.name = fmt::format("{}x{}x{}{}", s.m, s.n, s.k, s.transpose_b ? "-nt" : ""),
            .dtype = integers ? "int8" : "bf16",
            .work = {.flops = 0, .bytes = sizeof(T) * (m * k + k * n) + 4 * m * n},
            // A peer's product of bf16 is rounded to bf16; integers are exact.
            .tolerance = integers ? 0 : 8e-3,
            .prepare = [=](const Device &device) { return prepare<T>(device, s); }};
}

}// namespace

void add_narrow_products(std::vector<Case> &all) {
    static constexpr Shape shapes[] = {
        {128, 128, 128},       {256, 256, 256},        {512, 512, 512},  {1024, 1024, 1024},
        {2048, 2048, 2048},    {1000, 1000, 1000},     {127, 193, 61},   {511, 513, 509},
        {1, 4096, 4096},       {4, 4096, 4096},        {16, 4096, 4096}, {1, 4096, 4096, true},
        {4, 4096, 4096, true}, {16, 4096, 4096, true},
    };
    for (auto s : shapes) {
        all.push_back(make_case<bfloat16>(s));
    }
    for (auto s : shapes) {
        all.push_back(make_case<int8_t>(s));
    }
}

}// namespace bench
