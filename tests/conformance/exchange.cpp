// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

// Exchanges along an axis against loops on the host, on both back ends: ragged, prime, single and empty extents,
// host and runtime distances, several element types.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

using Extents = std::pair<int64_t, int64_t>;
/// The source coordinate along the axis for a destination, or a negative one where the fill stands.
using Source = std::function<int64_t(int64_t)>;

/// Runs `f(x, i, j, delta)` over both axes' orders and checks that y[i, j] is x at the source, or `fill`.
template<class T, class F>
void run_exchange(Extents e, int along, int64_t delta, T fill, const Source &source, const F &f) {
    auto def = tile_kernel([=](TensorView<const T, 2> X, TensorView<T, 2> Y, Scalar<int64_t> by) {
        auto i = axis("i", e.first), j = axis("j", e.second);
        auto x = X[coord(0, 0), shape(i, j)];
        Y(coord(0, 0), shape(i, j)).store(f(x, along == 0 ? i : j, by));
    });
    auto kernel = def.capture(tensor_shape(e.first, e.second), tensor_shape(e.first, e.second));
    auto views = run_both(
        kernel, {integer_view<T>({e.first, e.second}, 3, 50), output_view<T>({e.first, e.second})},
        {bits_of(delta)});
    for (int64_t i = 0; i < e.first; ++i) {
        for (int64_t j = 0; j < e.second; ++j) {
            auto from = source(along == 0 ? i : j);
            auto extent = along == 0 ? e.first : e.second;
            bool inside = from >= 0 && from < extent;
            auto place = along == 0 ? from * e.second + j : i * e.second + from;
            auto expected = inside ? element<T>(views[0], place) : fill;
            ASSERT_EQ(static_cast<double>(element<T>(views[1], i * e.second + j)),
                      static_cast<double>(expected))
                << "at " << i << ", " << j << " of " << e.first << " × " << e.second << "\n"
                << kernel.ir_text();
        }
    }
}

int64_t wrapped(int64_t j, int64_t n) { return n == 0 ? -1 : ((j % n) + n) % n; }

class Exchange : public ::testing::TestWithParam<std::tuple<Extents, int>> {
protected:
    Extents extents = std::get<0>(GetParam());
    int along = std::get<1>(GetParam());
    int64_t count = along == 0 ? extents.first : extents.second;
};
}// namespace

TEST_P(Exchange, shift_reads_zero_or_the_fill_outside) {
    for (int64_t delta : {0, 1, -1, 3, -4, 100, -100}) {
        auto source = [=](int64_t j) { return j - delta; };
        run_exchange<float>(
            extents, along, 0, 0.0f, source,
            [=](const auto &x, Axis k, const auto &) { return shift(x, k, delta); });
        run_exchange<float>(
            extents, along, 0, 7.5f, source,
            [=](const auto &x, Axis k, const auto &) { return shift(x, k, delta, 7.5f); });
    }
}
TEST_P(Exchange, shift_by_a_runtime_distance) {
    for (int64_t delta : {int64_t{0}, int64_t{2}, int64_t{-3}, count, INT64_MAX, INT64_MIN}) {
        auto source = [=](int64_t j) { return std::abs(delta / 2) > 500 ? -1 : j - delta; };
        run_exchange<float>(
            extents, along, delta, -2.0f, source,
            [](const auto &x, Axis k, const auto &by) { return shift(x, k, by, -2.0f); });
    }
}
TEST_P(Exchange, rotate_wraps) {
    for (int64_t delta : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{5}, int64_t{-7}, count,
                          count + 1, int64_t{1000003}, INT64_MIN}) {
        auto source = [=, n = count](int64_t j) {
            return n == 0 ? -1 : wrapped(j - wrapped(delta, n), n);
        };
        run_exchange<float>(
            extents, along, 0, 0.0f, source,
            [=](const auto &x, Axis k, const auto &) { return rotate(x, k, delta); });
        run_exchange<float>(extents, along, delta, 0.0f, source,
                            [](const auto &x, Axis k, const auto &by) { return rotate(x, k, by); });
    }
}
TEST_P(Exchange, flip_reverses_and_twice_is_nothing) {
    run_exchange<float>(
        extents, along, 0, 0.0f, [n = count](int64_t j) { return n - 1 - j; },
        [](const auto &x, Axis k, const auto &) { return flip(x, k); });
    run_exchange<float>(
        extents, along, 0, 0.0f, [](int64_t j) { return j; },
        [](const auto &x, Axis k, const auto &) { return flip(flip(x, k), k); });
}
TEST_P(Exchange, butterfly_reads_the_partner) {
    for (int64_t mask : {0, 1, 2, 3, 8, 21, 1024}) {
        auto source = [=](int64_t j) { return j ^ mask; };
        run_exchange<float>(
            extents, along, 0, 0.0f, source,
            [=](const auto &x, Axis k, const auto &) { return butterfly(x, k, mask); });
        run_exchange<float>(
            extents, along, mask, 0.0f, source,
            [](const auto &x, Axis k, const auto &by) { return butterfly(x, k, by); });
    }
    run_exchange<float>(
        extents, along, -1, 0.0f, [](int64_t) { return -1; },
        [](const auto &x, Axis k, const auto &by) { return butterfly(x, k, by); });
}
TEST_P(Exchange, chains_compose_masks_and_fills_included) {
    auto n = count;
    auto source = [=](int64_t j) {
        auto after_flip = n - 1 - j;                                        // flip
        auto after_shift = after_flip - 2;                                  // shift by two, fill 9
        return after_shift < 0 || n == 0 ? -1 : wrapped(after_shift - 1, n);// rotate by one
    };
    run_exchange<float>(extents, along, 0, 9.0f, source, [](const auto &x, Axis k, const auto &) {
        return flip(shift(rotate(x, k, 1), k, 2, 9.0f), k);
    });
}
INSTANTIATE_TEST_SUITE_P(Extents, Exchange,
                         ::testing::Combine(::testing::Values(Extents{7, 13}, Extents{16, 32},
                                                              Extents{1, 1}, Extents{5, 67},
                                                              Extents{0, 4}, Extents{3, 0}),
                                            ::testing::Values(0, 1)));

namespace {
template<class T> class ExchangeTypes : public ::testing::Test {};
using ExchangedTypes = ::testing::Types<int8_t, uint16_t, int32_t, uint64_t, half, bf16, double>;
}// namespace
TYPED_TEST_SUITE(ExchangeTypes, ExchangedTypes);
TYPED_TEST(ExchangeTypes, every_type_moves) {
    using T = TypeParam;
    Extents e{5, 19};
    auto zero = T{};
    run_exchange<T>(
        e, 1, 0, zero, [](int64_t j) { return j - 3; },
        [](const auto &x, Axis k, const auto &) { return shift(x, k, 3); });
    run_exchange<T>(
        e, 1, 0, zero, [](int64_t j) { return wrapped(j + 3, 19); },
        [](const auto &x, Axis k, const auto &) { return rotate(x, k, -3); });
    run_exchange<T>(
        e, 0, 0, zero, [](int64_t j) { return 4 - j; },
        [](const auto &x, Axis k, const auto &) { return flip(x, k); });
    run_exchange<T>(
        e, 1, 0, zero, [](int64_t j) { return j ^ 4; },
        [](const auto &x, Axis k, const auto &) { return butterfly(x, k, 4); });
}

namespace {
class Concat : public ::testing::TestWithParam<std::array<int64_t, 3>> {};
}// namespace
TEST_P(Concat, three_parts_follow_each_other) {
    auto n = GetParam();
    auto total = n[0] + n[1] + n[2];
    auto def = tile_kernel([=](TensorView<const int32_t, 2> A, TensorView<const int32_t, 2> B,
                               TensorView<const int32_t, 2> C, TensorView<int32_t, 2> Y) {
        auto i = axis("i", 3);
        auto k = dim("k");
        auto a = A[coord(0, 0), shape(i, axis(k, n[0]))];
        // The other dimensions agree as a set: this one comes transposed.
        auto b = transpose(B[coord(0, 0), shape(i, axis(k, n[1]))], {axis(k, n[1]), i});
        auto c = C[coord(0, 0), shape(i, axis(k, n[2]))];
        Y(coord(0, 0), shape(i, axis(k, total))).store(concat(k, a, b, c));
    });
    auto views = run_both(
        def.capture(tensor_shape(3, n[0]), tensor_shape(3, n[1]), tensor_shape(3, n[2]),
                    tensor_shape(3, total)),
        {integer_view<int32_t>({3, n[0]}, 1, 99), integer_view<int32_t>({3, n[1]}, 2, 99),
         integer_view<int32_t>({3, n[2]}, 3, 99), output_view<int32_t>({3, total})});
    for (int64_t i = 0; i < 3; ++i) {
        for (int64_t j = 0; j < total; ++j) {
            size_t part = j < n[0] ? 0 : j < n[0] + n[1] ? 1 : 2;
            auto from = j - (part > 0 ? n[0] : 0) - (part > 1 ? n[1] : 0);
            ASSERT_EQ(element<int32_t>(views[3], i * total + j),
                      element<int32_t>(views[part], i * n[part] + from))
                << i << ", " << j;
        }
    }
}
INSTANTIATE_TEST_SUITE_P(
    Lengths, Concat,
    ::testing::Values(std::array<int64_t, 3>{4, 8, 16}, std::array<int64_t, 3>{7, 1, 13},
                      std::array<int64_t, 3>{0, 5, 0}, std::array<int64_t, 3>{1, 0, 2},
                      std::array<int64_t, 3>{33, 31, 64}, std::array<int64_t, 3>{0, 0, 0}));
