// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

#include <bit>
#include <limits>

// Division by a number that stays the same along a loop is multiplication with its reciprocal and one correction,
// where that gives the bits of IEEE division: docs/numerics.md has the argument, and these compare.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

template<class T> using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
template<class T> constexpr int mantissa = std::numeric_limits<T>::digits - 1;

/// One row of dividends, each divided by one number a row.
template<class T> Kernel quotients(int64_t rows, int64_t columns) {
    auto def = tile_kernel(
        [](TensorView<const T, 1> X, TensorView<const T, 1> D, TensorView<T, 2> Y) {
            auto c = axis("column", Y.extent(1));
            for (auto &nest : parallel(shape(Y.extent(0)))) {
                auto d = D[coord(nest.index())];
                Y(coord(nest.index(), 0), shape(1, c)).store(X[coord(0), shape(c)] / d);
            }
        });
    return def.capture(tensor_shape(columns), tensor_shape(rows), tensor_shape(rows, columns));
}

/// Numbers around every bound: of the format, of what the multiplication may be used for, of rounding.
template<class T> std::vector<T> special_values() {
    using L = std::numeric_limits<T>;
    std::vector<T> values{T(0),          L::denorm_min(), L::min() / 2, L::min(),    L::max(),
                          L::infinity(), L::quiet_NaN(),  T(1),         T(1) / 3,    T(2) / 3,
                          T(10),         L::max() / 3,    T(7),         L::epsilon()};
    std::vector<int> exponents = {0, 1, -1, 12, -12, 23, 24, 25, 26, -23, -24, -25, -26};
    for (int e : {99, 100, 101, 102, 126, 899, 900, 901, 1022}) {
        if (e < L::max_exponent) {
            exponents.insert(exponents.end(), {e, -e});
        }
    }
    for (int e : exponents) {
        auto power = std::ldexp(T(1), e);
        for (auto bits : {Bits<T>(0), Bits<T>(1), Bits<T>(2), Bits<T>(-1), Bits<T>(-2)}) {
            values.push_back(
                std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(power) + bits)));
        }
    }
    auto count = values.size();
    for (size_t i = 0; i < count; ++i) {
        values.push_back(-values[i]);
    }
    return values;
}

/// Each value in vectors of its own: one that is out of range takes those beside it to the division.
template<class T> std::vector<T> alone(const std::vector<T> &values) {
    std::vector<T> all;
    for (auto value : values) {
        all.insert(all.end(), 16, value);
    }
    return all;
}

template<class T>
void expect_ieee_division(const std::vector<T> &dividends, const std::vector<T> &divisors) {
    auto rows = static_cast<int64_t>(divisors.size()),
         columns = static_cast<int64_t>(dividends.size());
    auto kernel = quotients<T>(rows, columns);
    auto compiled = compiler::compile_cpu(*module_of(kernel), {emit::host_cpu(), 1, false, {}});
    std::vector<View> views{dense<T>({columns}, dividends), dense<T>({rows}, divisors),
                            output_view<T>({rows, columns})};
    run_cpu(*compiled, arguments_of(*module_of(kernel), views, {}));
    const auto *got = reinterpret_cast<const T *>(views[2].bytes.data());
    int64_t wrong = 0;
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
            auto x = dividends[static_cast<size_t>(c)], d = divisors[static_cast<size_t>(r)];
            auto expected = x / d, found = got[r * columns + c];
            bool same = std::bit_cast<Bits<T>>(expected) == std::bit_cast<Bits<T>>(found) ||
                        (expected != expected && found != found);
            if (!same && ++wrong <= 5) {
                ADD_FAILURE() << std::hexfloat << x << " / " << d << " is " << expected << ", not "
                              << found;
            }
        }
    }
    EXPECT_EQ(wrong, 0);
}

/// Divisors with significands that make reciprocals worst, and arbitrary ones.
template<class T> std::vector<T> divisors(size_t count, uint64_t seed) {
    constexpr auto one = Bits<T>(1) << mantissa<T>;
    std::vector<Bits<T>> significands = {0,       1,       2,       3,          one - 1,
                                         one - 2, one - 3, one / 2, one / 2 - 1};
    std::mt19937_64 engine{seed};
    while (significands.size() < count) {
        significands.push_back(static_cast<Bits<T>>(engine()) & (one - 1));
    }
    std::vector<T> values;
    for (size_t i = 0; i < count; ++i) {
        auto x = std::bit_cast<T>(
            static_cast<Bits<T>>(std::bit_cast<Bits<T>>(T(1)) | significands[i]));
        values.push_back(std::ldexp(x, static_cast<int>(engine() % 47) - 23) *
                         (i % 5 == 4 ? -1 : 1));
    }
    return values;
}

/// Every significand of an f32 between 1 and 2, as dividends of `part` out of `parts`.
std::vector<float> all_significands(uint32_t part, uint32_t parts) {
    std::vector<float> values;
    for (auto m = (1u << 23) / parts * part; m < (1u << 23) / parts * (part + 1); ++m) {
        values.push_back(std::bit_cast<float>(0x3f800000u | m));
    }
    return values;
}

template<class T> std::vector<T> any_dividends(size_t count, uint64_t seed, bool whole_range) {
    std::mt19937_64 engine{seed};
    std::vector<T> values;
    while (values.size() < count) {
        auto bits = static_cast<Bits<T>>(engine());
        auto exponent = Bits<T>(std::numeric_limits<T>::max_exponent - 1 + engine() % 129 - 64);
        values.push_back(std::bit_cast<T>(
            whole_range ? bits
                        : static_cast<Bits<T>>((bits & ((Bits<T>(1) << mantissa<T>)-1)) |
                                               exponent << mantissa<T>)));
    }
    return values;
}

}// namespace

TEST(Division, by_a_number_that_stays_is_a_multiplication) {
    auto machine_of = [](const Kernel &kernel, int vector_bytes) {
        target::CpuFacts facts;
        facts.vector_bytes = vector_bytes;
        return compiler::forms_cpu(*module_of(kernel), {emit::host_cpu(), 1, false, facts}, false,
                                   false)
            .machine;
    };
    for (const auto &kernel : {quotients<float>(3, 100), quotients<double>(3, 100)}) {
        EXPECT_NE(machine_of(kernel, 64).find(" fma "), std::string::npos);
        EXPECT_NE(machine_of(kernel, 32).find(" fma "), std::string::npos);
        EXPECT_EQ(machine_of(kernel, 16).find(" fma "), std::string::npos)
            << "there, a fused multiply-add may be a call";
    }
    // No loop, nothing that stays.
    EXPECT_EQ(machine_of(quotients<float>(1, 9), 64).find(" fma "), std::string::npos);
}

TEST(Division, by_a_number_that_stays_is_rounded_once_for_special_values) {
    expect_ieee_division(alone(special_values<float>()), special_values<float>());
    expect_ieee_division(alone(special_values<double>()), special_values<double>());
    expect_ieee_division(special_values<float>(), special_values<float>());
}

TEST(Division, by_a_number_that_stays_is_rounded_once_for_each_significand) {
    auto some = divisors<float>(12, 1);
    for (uint32_t part = 0; part < 32; ++part) {
        expect_ieee_division(all_significands(part, 32), some);
    }
}

TEST(Division, by_a_number_that_stays_is_rounded_once_for_any_dividend) {
    for (bool whole_range : {false, true}) {
        expect_ieee_division(any_dividends<float>(100'000, 2, whole_range), divisors<float>(50, 3));
        expect_ieee_division(any_dividends<double>(100'000, 4, whole_range),
                             divisors<double>(50, 5));
        expect_ieee_division(any_dividends<float>(10'000, 6, whole_range),
                             any_dividends<float>(100, 7, true));
        expect_ieee_division(any_dividends<double>(10'000, 8, whole_range),
                             any_dividends<double>(100, 9, true));
    }
}

TEST(Division, DISABLED_by_a_number_that_stays_is_rounded_once_for_many_divisors) {
    for (uint64_t seed = 100; seed < 164; ++seed) {
        auto some = divisors<float>(32, seed);
        for (uint32_t part = 0; part < 32; ++part) {
            expect_ieee_division(all_significands(part, 32), some);
        }
        expect_ieee_division(any_dividends<double>(200'000, seed, false),
                             divisors<double>(100, seed));
    }
}

TEST(Division, by_a_number_that_stays_agrees_with_the_interpreter) {
    for (int64_t columns : {0, 1, 15, 16, 17, 64, 100, 261}) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<const double, 2> Z,
                                   TensorView<const half, 2> H, Scalar<float> d,
                                   TensorView<float, 2> Y, TensorView<double, 2> W,
                                   TensorView<half, 2> V) {
            auto c = axis("column", columns);
            for (auto &nest : parallel(shape(3))) {
                auto at = [&](auto &view) { return view(coord(nest.index(), 0), shape(1, c)); };
                auto x = at(X).load();
                at(Y).store(x / reduce(x, c, maximum) + x / d + x / 3.0f);
                auto z = at(Z).load();
                at(W).store(z / reduce(abs(z), c, maximum));
                auto h = at(H).load();
                at(V).store(h / reduce(h, c, minimum));
            }
        });
        auto x = random_view({3, columns}, 9);
        auto z = random_view<double>({3, columns}, 10);
        auto h = random_view<half>({3, columns}, 11);
        auto shape = tensor_shape(3, columns);
        run_both(def.capture(shape, shape, shape, shape, shape, shape),
                 {x, z, h, output_view({3, columns}), output_view<double>({3, columns}),
                  output_view<half>({3, columns})},
                 {bits_of(0.7f)});
    }
}
