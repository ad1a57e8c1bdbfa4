// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>
#include <luisa/tile/packed.h>

#include "support/views.h"

// Formats of four bits in views of bytes: every code through loads, stores, conversions and mma.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

template<class T> class Packed : public ::testing::Test {};
using PackedTypes = ::testing::Types<int4, uint4, float4_e2m1>;
TYPED_TEST_SUITE(Packed, PackedTypes);

template<class E> double value_of(uint8_t code) { return static_cast<double>(E::from_bits(code)); }
/// The code of element k of a row.
uint8_t code_at(const View &bytes, int64_t row, int64_t k, NibbleOrder order) {
    auto byte = bytes.bytes[static_cast<size_t>(row * bytes.strides[0] + k / 2)];
    bool high = (k % 2 == 1) == (order == NibbleOrder::LOW_FIRST);
    return static_cast<uint8_t>(high ? byte >> 4 : byte & 15);
}
View every_byte(int64_t rows, int64_t columns) {
    std::vector<uint8_t> values(256);
    for (size_t i = 0; i < 256; ++i) {
        values[i] = static_cast<uint8_t>(i * 77 + 5);
    }
    return dense<uint8_t>({rows, columns}, values);
}

struct PackedCase {
    int64_t rows, k, tile;
    NibbleOrder order;
};
const PackedCase CASES[] = {
    {4, 128, 32, NibbleOrder::LOW_FIRST}, {3, 37, 16, NibbleOrder::LOW_FIRST},
    {5, 61, 24, NibbleOrder::HIGH_FIRST}, {1, 1, 2, NibbleOrder::LOW_FIRST},
    {2, 2, 2, NibbleOrder::HIGH_FIRST},   {0, 8, 8, NibbleOrder::LOW_FIRST},
    {3, 0, 8, NibbleOrder::LOW_FIRST}};

}// namespace

TYPED_TEST(Packed, loads_are_the_values_of_the_codes) {
    using V = typename packed_traits<TypeParam>::carrier;
    for (const auto &p : CASES) {
        auto def = tile_kernel([=](TensorView<const uint8_t, 2> A, TensorView<V, 2> Y) {
            auto x = packed<TypeParam>(A, p.k, p.order);
            auto m = axis("m", 2), k = axis("k", p.tile);
            for (auto &nest :
                 parallel(shape(ceil_div(A.extent(0), 2), ceil_div(x.extent(1), p.tile)))) {
                auto at = coord(nest.index(0) * 2, nest.index(1) * p.tile);
                Y(at, shape(m, k)).store(x(at, shape(m, k)).load());
            }
        });
        auto out = run_both(
            def.capture(tensor_shape(p.rows, (p.k + 1) / 2), tensor_shape(p.rows, p.k)),
            {every_byte(p.rows, (p.k + 1) / 2), output_of<V>({p.rows, p.k})});
        for (int64_t i = 0; i < p.rows * p.k; ++i) {
            ASSERT_EQ(element_value(out[1], static_cast<size_t>(i)),
                      value_of<TypeParam>(code_at(out[0], i / p.k, i % p.k, p.order)))
                << i;
        }
    }
}

TYPED_TEST(Packed, elements_outside_a_row_are_zero) {
    using V = typename packed_traits<TypeParam>::carrier;
    auto def = tile_kernel([](TensorView<const uint8_t, 2> A, TensorView<V, 2> Y) {
        auto x = packed<TypeParam>(A, 5);
        auto m = axis("m", 3), k = axis("k", 12);
        Y(coord(0, 0), shape(m, k)).store(x(coord(-1, -3), shape(m, k)).load());
    });
    auto out = run_both(def.capture(tensor_shape(2, 3), tensor_shape(3, 12)),
                        {every_byte(2, 3), output_of<V>({3, 12})});
    for (int64_t i = 0; i < 36; ++i) {
        auto row = i / 12 - 1, k = i % 12 - 3;
        bool inside = row >= 0 && k >= 0 && k < 5;
        ASSERT_EQ(element_value(out[1], static_cast<size_t>(i)),
                  inside ? value_of<TypeParam>(code_at(out[0], row, k, NibbleOrder::LOW_FIRST)) : 0)
            << i;
    }
}

TYPED_TEST(Packed, stores_write_two_values_a_byte_and_nothing_else) {
    for (const auto &p : CASES) {
        auto other = p.order == NibbleOrder::LOW_FIRST ? NibbleOrder::HIGH_FIRST
                                                       : NibbleOrder::LOW_FIRST;
        auto def = tile_kernel([=](TensorView<const uint8_t, 2> A, TensorView<uint8_t, 2> B) {
            auto x = packed<TypeParam>(A, p.k, p.order), y = packed<TypeParam>(B, p.k, other);
            auto m = axis("m", 2), k = axis("k", p.tile);
            for (auto &nest :
                 parallel(shape(ceil_div(A.extent(0), 2), ceil_div(x.extent(1), p.tile)))) {
                auto at = coord(nest.index(0) * 2, nest.index(1) * p.tile);
                y(at, shape(m, k)).store(x(at, shape(m, k)).load());
            }
        });
        auto bytes = (p.k + 1) / 2;
        auto out = run_both(def.capture(tensor_shape(p.rows, bytes), tensor_shape(p.rows, bytes)),
                            {every_byte(p.rows, bytes), output_of<uint8_t>({p.rows, bytes})});
        for (int64_t i = 0; i < p.rows * 2 * bytes; ++i) {
            auto row = i / (2 * bytes), k = i % (2 * bytes);
            auto expected = k < p.k ? code_at(out[0], row, k, p.order) : uint8_t{0};
            ASSERT_EQ(code_at(out[1], row, k, other), expected) << row << " " << k;
        }
    }
}

TYPED_TEST(Packed, quantize_gives_what_is_stored) {
    constexpr int64_t N = 250;
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<uint8_t, 1> B) {
        auto y = packed<TypeParam>(B, N);
        auto i = axis("i", 64);
        for (auto &nest : parallel(shape(4))) {
            auto at = coord(nest.index() * 64);
            y(at, shape(i))
                .store(quantize<TypeParam>(X[at, shape(i)] * 10.0f, rounding::nearest_even,
                                           overflow::saturate));
        }
    });
    auto out = run_both(def.capture(tensor_shape(N), tensor_shape(N / 2)),
                        {random_view({N}, 3), output_of<uint8_t>({N / 2})});
    for (int64_t i = 0; i < N; ++i) {
        auto x = static_cast<float>(element_value(out[0], static_cast<size_t>(i))) * 10.0f;
        auto byte = out[1].bytes[static_cast<size_t>(i / 2)];
        auto got = value_of<TypeParam>(static_cast<uint8_t>(i % 2 == 1 ? byte >> 4 : byte & 15));
        for (uint8_t code = 0; code < 16; ++code) {
            ASSERT_LE(std::fabs(got - static_cast<double>(x)),
                      std::fabs(value_of<TypeParam>(code) - static_cast<double>(x)))
                << i;
        }
    }
}

TYPED_TEST(Packed, operands_of_mma_widen_exactly) {
    using V = typename packed_traits<TypeParam>::carrier;
    using C = std::conditional_t<is_floating_element<V>, float, int32_t>;
    constexpr int64_t M = 9, N = 21, K = 34;
    auto def = tile_kernel(
        [](TensorView<const uint8_t, 2> A, TensorView<const uint8_t, 2> B, TensorView<C, 2> Z) {
            auto a = packed<TypeParam>(A, K), b = packed<TypeParam>(B, K);
            auto m = axis("m", 8), n = axis("n", 16), k = axis("k", 16);
            for (auto &nest : parallel(shape((M + 7) / 8, (N + 15) / 16))) {
                auto i = nest.index(0) * 8, j = nest.index(1) * 16;
                auto sum = zeros<C>(shape(m, n));
                for (auto &step : pipeline(range(0, K, 16))) {
                    sum = mma(a(coord(i, step.index()), shape(m, k)).load(),
                              b(coord(j, step.index()), shape(n, k)).load(), sum);
                }
                Z(coord(i, j), shape(m, n)).store(sum);
            }
        });
    auto out = run_both(
        def.capture(tensor_shape(M, K / 2), tensor_shape(N, K / 2), tensor_shape(M, N)),
        {every_byte(M, K / 2), every_byte(N, K / 2), output_of<C>({M, N})});
    for (int64_t i = 0; i < M * N; ++i) {
        double sum = 0;
        for (int64_t k = 0; k < K; ++k) {
            sum += value_of<TypeParam>(code_at(out[0], i / N, k, NibbleOrder::LOW_FIRST)) *
                   value_of<TypeParam>(code_at(out[1], i % N, k, NibbleOrder::LOW_FIRST));
        }
        ASSERT_EQ(element_value(out[2], static_cast<size_t>(i)), sum) << i;
    }
}

TYPED_TEST(Packed, host_values_move_bits_and_convert_exactly) {
    const double values[3][16] = {
        {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1},
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
        {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6}};
    const auto &expected = values[std::same_as<TypeParam, int4>    ? 0
                                  : std::same_as<TypeParam, uint4> ? 1
                                                                   : 2];
    for (uint8_t code = 0; code < 16; ++code) {
        EXPECT_EQ(TypeParam::from_bits(code).bits(), code);
        EXPECT_EQ(TypeParam::from_bits(static_cast<uint8_t>(code | 0xf0)).bits(), code);
        EXPECT_EQ(value_of<TypeParam>(code), expected[code]);
        EXPECT_EQ(std::signbit(value_of<TypeParam>(code)), std::signbit(expected[code]));
    }
}

TYPED_TEST(Packed, a_store_that_would_share_a_byte_ends_the_launch) {
    using V = typename packed_traits<TypeParam>::carrier;
    for (const auto *name : {"cpu", "interpreter"}) {
        auto device = Device::create(name);
        Stream stream{device};
        auto f = device.jit(tile_kernel([](TensorView<uint8_t, 1> B, Scalar<int64_t> first) {
            auto i = axis("i", 4);
            packed<TypeParam>(B, 16)(coord(first), shape(i)).store(zeros<V>(shape(i)));
        }));
        auto bytes = make_tensor<uint8_t>(device, 8);
        std::vector<uint8_t> host(8, 0xff);
        stream << bytes.copy_from(host) << f(bytes, int64_t{6}).dispatch() << synchronize();
        EXPECT_THROW(stream << f(bytes, int64_t{11}).dispatch() << synchronize(), AssertionError);
        stream << bytes.copy_to(host) << synchronize();
        EXPECT_EQ(host, (std::vector<uint8_t>{0xff, 0xff, 0xff, 0, 0, 0xff, 0xff, 0xff})) << name;
    }
}

TEST(PackedRange, a_store_in_the_middle_of_a_row_keeps_its_neighbours) {
    auto def = tile_kernel([](TensorView<uint8_t, 2> B) {
        auto y = packed<int4>(B, 15);
        auto m = axis("m", 2), k = axis("k", 6);
        y(coord(1, 4), shape(m, k)).store(full<int8_t>(shape(k), -3));
    });
    auto out = run_both(def.capture(tensor_shape(4, 8)), {every_byte(4, 8)});
    auto before = every_byte(4, 8);
    for (int64_t i = 0; i < 64; ++i) {
        auto row = i / 16, k = i % 16;
        bool written = row >= 1 && row < 3 && k >= 4 && k < 10;
        ASSERT_EQ(code_at(out[0], row, k, NibbleOrder::LOW_FIRST),
                  written ? 13 : code_at(before, row, k, NibbleOrder::LOW_FIRST))
            << row << " " << k;
    }
}
