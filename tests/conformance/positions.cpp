// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// Positions of least and greatest elements among many equal ones and NaNs, over lines of every length about the
// widths of vectors and accumulators: the first one, wherever lanes and accumulators see it.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// Few distinct values; `nans` in 16 are NaN where T has it.
template<class T> View repeated(std::vector<int64_t> extents, uint32_t seed, unsigned nans) {
    std::mt19937 engine{seed};
    std::vector<T> values(1031);
    for (auto &x : values) {
        x = T(static_cast<float>(engine() % 3));
        if constexpr (!std::is_integral_v<T>) {
            if (engine() % 16 < nans) {
                x = T(std::numeric_limits<float>::quiet_NaN());
            }
        }
    }
    return dense<T>(std::move(extents), values);
}

template<class T> void check(int64_t rows, int64_t columns, unsigned nans, uint32_t seed) {
    auto def = tile_kernel([=](TensorView<const T, 2> X, TensorView<const bool, 2> M,
                               TensorView<int64_t, 2> Y, TensorView<int64_t, 1> Z) {
        auto i = axis("i", rows), j = axis("j", columns);
        for (auto &nest : parallel(shape(1))) {
            (void)nest;
            auto x = X[coord(0, 0), shape(i, j)];
            auto m = M[coord(0, 0), shape(i, j)];
            auto row = shape(i);
            int64_t place = 0;
            for (auto policy : {luisa::tile::nan::propagate, luisa::tile::nan::ignore}) {
                ReduceOptions plain{.nan = policy}, masked{.mask = m, .nan = policy};
                for (const auto &options : {plain, masked}) {
                    Y(coord(place++, 0), shape(1, i)).store(reduce(x, j, argmax, options));
                    Y(coord(place++, 0), shape(1, i)).store(reduce(x, j, argmin, options));
                    Z(place).store(Scalar<int64_t>(reduce(x, {i, j}, argmax, options)));
                    Z(place + 16).store(Scalar<int64_t>(reduce(x, {j, i}, argmin, options)));
                }
            }
        }
    });
    auto kernel = def.capture(tensor_shape(rows, columns), tensor_shape(rows, columns),
                              tensor_shape(8, rows), tensor_shape(32));
    auto mask = repeated<uint8_t>({rows, columns}, seed + 1, 0);
    mask.type = ScalarType::BOOL;
    for (auto &b : mask.bytes) {
        b = b == 1;
    }
    std::vector<int64_t> unset(1031, -7);
    run_both(kernel, {repeated<T>({rows, columns}, seed, nans), mask,
                      dense<int64_t>({8, rows}, unset), dense<int64_t>({32}, unset)});
}

template<class T> void check_lengths() {
    uint32_t seed = 1;
    for (int64_t columns : {1, 7, 8, 16, 17, 33, 64, 65, 129, 300}) {
        for (unsigned nans : {0u, 1u, 15u}) {
            check<T>(3, columns, nans, ++seed);
        }
    }
}

}// namespace

TEST(Positions, of_f32_are_the_first_of_equals) { check_lengths<float>(); }
TEST(Positions, of_f64_are_the_first_of_equals) { check_lengths<double>(); }
TEST(Positions, of_f16_are_the_first_of_equals) { check_lengths<half>(); }
TEST(Positions, of_bf16_are_the_first_of_equals) { check_lengths<bf16>(); }
TEST(Positions, of_u8_are_the_first_of_equals) { check_lengths<uint8_t>(); }
TEST(Positions, of_i64_are_the_first_of_equals) { check_lengths<int64_t>(); }
