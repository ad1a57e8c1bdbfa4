// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

#include "types/arith.h"

// Narrow formats: every code through loads, stores, conversions and the operations that they have, against
// the bit-exact reference.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// All values of a 8- or 16-bit type, in the order of their codes.
template<class T> View every_code() {
    View v;
    v.type = scalar_type_of<T>;
    auto n = int64_t{1} << (8 * sizeof(T));
    v.extents = {n}, v.strides = {1};
    v.bytes.resize(static_cast<size_t>(n) * sizeof(T) + 64, 0xa5);
    for (int64_t i = 0; i < n; ++i) {
        std::memcpy(v.bytes.data() + static_cast<size_t>(i) * sizeof(T), &i, sizeof(T));
    }
    return v;
}
/// Each f32 whose low half decides a rounding to 16 or fewer bits.
View f32_near_ties() {
    std::vector<float> values;
    for (uint32_t high = 0; high < 65536; ++high) {
        for (uint32_t low : {0x0000u, 0x0001u, 0x1000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
            auto bits = high << 16 | low;
            values.push_back(std::bit_cast<float>(bits));
        }
    }
    return dense<float>({static_cast<int64_t>(values.size())}, values);
}
uint64_t bits_at(const View &v, int64_t i) {
    uint64_t bits = 0;
    std::memcpy(&bits, v.bytes.data() + static_cast<size_t>(i) * size_of(v.type), size_of(v.type));
    return bits;
}
template<class R> View line_output_of(int64_t n) {
    View v;
    v.type = scalar_type_of<R>;
    v.extents = {n}, v.strides = {1};
    v.bytes.assign(static_cast<size_t>(n) * sizeof(R) + 64, 0x5a);
    return v;
}

/// f over X in tiles of 200 (a ragged end, no multiple of a vector).
template<class T, class R, class F> View through(View x, const F &f) {
    auto n = x.extents[0];
    auto def = tile_kernel([=](TensorView<const T, 1> X, TensorView<R, 1> Y) {
        auto i = axis("i", 200);
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 200)))) {
            auto at = coord(nest.index() * 200);
            Y(at, shape(i)).store(f(Tile<T>(X[at, shape(i)])));
        }
    });
    return run_both(def.capture(tensor_shape(n), tensor_shape(n)),
                    {std::move(x), line_output_of<R>(n)})[1];
}
/// f over all pairs of codes of an 8-bit type.
template<class T, class R, class F> View over_pairs(const F &f) {
    auto def = tile_kernel([=](TensorView<const T, 1> X, TensorView<R, 2> Y) {
        auto j = axis("j", 256);
        for (auto &nest : parallel(shape(256))) {
            auto one = axis("one", 1);
            auto a = X[coord(nest.index()), shape(one)];
            auto b = X[coord(0), shape(j)];
            Y(coord(nest.index(), 0), shape(one, j)).store(f(Tile<T>(a), Tile<T>(b)));
        }
    });
    auto y = line_output_of<R>(65536);
    y.extents = {256, 256}, y.strides = {256, 1};
    return run_both(def.capture(tensor_shape(256), tensor_shape(256, 256)),
                    {every_code<T>(), y})[1];
}
/// Equal codes, or NaN on both sides.
bool alike(ScalarType t, uint64_t a, uint64_t b) {
    return a == b || (is_float(t) && arith::is_nan(t, a) && arith::is_nan(t, b));
}
template<class R, class F> void expect_codes(const View &out, const F &expected) {
    for (int64_t i = 0; i < static_cast<int64_t>((out.bytes.size() - 64) / sizeof(R)); ++i) {
        ASSERT_TRUE(alike(scalar_type_of<R>, bits_at(out, i), expected(static_cast<uint64_t>(i))))
            << std::hex << i << ": got " << bits_at(out, i) << ", expected "
            << expected(static_cast<uint64_t>(i));
    }
}

template<class T> class Narrow : public ::testing::Test {};
using NarrowTypes = ::testing::Types<half, bfloat16, float8_e4m3fn, float8_e5m2>;
TYPED_TEST_SUITE(Narrow, NarrowTypes);
template<class T> class Octet : public ::testing::Test {};
using OctetTypes = ::testing::Types<float8_e4m3fn, float8_e5m2>;
TYPED_TEST_SUITE(Octet, OctetTypes);
template<class T> class Sixteen : public ::testing::Test {};
using SixteenTypes = ::testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(Sixteen, SixteenTypes);

}// namespace

TYPED_TEST(Narrow, copies_keep_every_code_nan_payloads_too) {
    auto out = through<TypeParam, TypeParam>(every_code<TypeParam>(), [](auto x) { return x; });
    for (int64_t i = 0; i < out.extents[0]; ++i) {
        ASSERT_EQ(bits_at(out, i), static_cast<uint64_t>(i));
    }
}
TYPED_TEST(Narrow, ite_and_gather_keep_every_code) {
    auto out = through<TypeParam, TypeParam>(every_code<TypeParam>(), [](auto x) {
        auto i = x.axis(0);
        auto reversed = gather(x, 199 - iota(i), i, TypeParam{});
        return ite(iota(i) % 2 == 0, x, gather(reversed, 199 - iota(i), i, TypeParam{}));
    });
    for (int64_t i = 0; i < out.extents[0]; ++i) {
        ASSERT_EQ(bits_at(out, i), static_cast<uint64_t>(i));
    }
}
TYPED_TEST(Narrow, bitcasts_keep_every_code_both_ways) {
    using U = std::conditional_t<sizeof(TypeParam) == 1, uint8_t, uint16_t>;
    auto out = through<TypeParam, U>(every_code<TypeParam>(), [](auto x) { return bitcast<U>(x); });
    auto back = through<U, TypeParam>(every_code<U>(),
                                      [](auto x) { return bitcast<TypeParam>(x); });
    for (int64_t i = 0; i < out.extents[0]; ++i) {
        ASSERT_EQ(bits_at(out, i), static_cast<uint64_t>(i));
        ASSERT_EQ(bits_at(back, i), static_cast<uint64_t>(i));
    }
}
TYPED_TEST(Narrow, neg_and_abs_touch_only_the_sign_bit) {
    const uint64_t sign = uint64_t{1} << (8 * sizeof(TypeParam) - 1);
    auto negated = through<TypeParam, TypeParam>(every_code<TypeParam>(),
                                                 [](auto x) { return -x; });
    auto magnitude = through<TypeParam, TypeParam>(every_code<TypeParam>(),
                                                   [](auto x) { return abs(x); });
    for (int64_t i = 0; i < negated.extents[0]; ++i) {
        ASSERT_EQ(bits_at(negated, i), static_cast<uint64_t>(i) ^ sign);
        ASSERT_EQ(bits_at(magnitude, i), static_cast<uint64_t>(i) & ~sign);
    }
}
TYPED_TEST(Narrow, widens_exactly_to_f32_f64_and_saturates_to_integers) {
    constexpr auto t = scalar_type_of<TypeParam>;
    auto codes = every_code<TypeParam>();
    expect_codes<float>(through<TypeParam, float>(codes, [](auto x) { return cast<float>(x); }),
                        [](uint64_t i) { return arith::convert(i, t, ScalarType::FLOAT32); });
    expect_codes<double>(through<TypeParam, double>(codes, [](auto x) { return cast<double>(x); }),
                         [](uint64_t i) { return arith::convert(i, t, ScalarType::FLOAT64); });
    expect_codes<int8_t>(through<TypeParam, int8_t>(codes, [](auto x) { return cast<int8_t>(x); }),
                         [](uint64_t i) { return arith::convert(i, t, ScalarType::INT8); });
    expect_codes<uint16_t>(
        through<TypeParam, uint16_t>(codes, [](auto x) { return cast<uint16_t>(x); }),
        [](uint64_t i) { return arith::convert(i, t, ScalarType::UINT16); });
    expect_codes<int64_t>(
        through<TypeParam, int64_t>(codes, [](auto x) { return cast<int64_t>(x); }),
        [](uint64_t i) { return arith::convert(i, t, ScalarType::INT64); });
}
TYPED_TEST(Octet, compares_and_orders_all_pairs_of_codes) {
    constexpr auto t = scalar_type_of<TypeParam>;
    using X = Tile<TypeParam>;
    auto low = over_pairs<TypeParam, TypeParam>([](X a, X b) { return minimum(a, b); });
    auto high = over_pairs<TypeParam, TypeParam>([](X a, X b) { return luisa::tile::fmax(a, b); });
    auto less = over_pairs<TypeParam, bool>([](X a, X b) { return a < b; });
    auto equal = over_pairs<TypeParam, bool>([](X a, X b) { return a == b; });
    for (uint64_t e = 0; e < 65536; ++e) {
        auto a = e / 256, b = e % 256;
        auto i = static_cast<int64_t>(e);
        ASSERT_TRUE(alike(t, bits_at(low, i), arith::minimum(t, a, b))) << a << " " << b;
        ASSERT_TRUE(alike(t, bits_at(high, i), arith::fmax(t, a, b))) << a << " " << b;
        ASSERT_EQ(bits_at(less, i), arith::lt(t, a, b)) << a << " " << b;
        ASSERT_EQ(bits_at(equal, i), arith::eq(t, a, b)) << a << " " << b;
    }
}
TYPED_TEST(Octet, quantizes_with_one_rounding_and_the_named_overflow_rule) {
    auto x = f32_near_ties();
    for (bool saturate : {false, true}) {
        expect_codes<TypeParam>(
            through<float, TypeParam>(x, [=](auto v) { return quantize<TypeParam>(v, saturate); }),
            [&](uint64_t i) {
                return arith::quantize(bits_at(x, static_cast<int64_t>(i)), ScalarType::FLOAT32,
                                       scalar_type_of<TypeParam>, saturate);
            });
    }
}
TYPED_TEST(Octet, round_trips_through_f32) {
    auto out = through<TypeParam, TypeParam>(
        every_code<TypeParam>(), [](auto v) { return quantize<TypeParam>(cast<float>(v), false); });
    expect_codes<TypeParam>(out, [](uint64_t i) { return i; });
}
TYPED_TEST(Octet, feeds_mma_and_reductions_by_order) {
    constexpr auto t = scalar_type_of<TypeParam>;
    auto def = tile_kernel(
        [](TensorView<const TypeParam, 2> X, TensorView<TypeParam, 1> Y, TensorView<int64_t, 1> Z) {
            auto i = axis("i", 16), j = axis("j", 16);
            auto x = X[coord(0, 0), shape(i, j)];
            Y(coord(0), shape(i)).store(reduce(x, j, maximum));
            Y(coord(16), shape(i)).store(reduce(x, j, luisa::tile::fmin));
            Z(coord(0), shape(i)).store(reduce(x, j, argmax));
        });
    auto codes = every_code<TypeParam>();
    codes.extents = {16, 16}, codes.strides = {16, 1};
    auto out = run_both(def.capture(tensor_shape(16, 16), tensor_shape(32), tensor_shape(16)),
                        {codes, line_output_of<TypeParam>(32), dense<int64_t>({16}, {-1})});
    for (uint64_t row = 0; row < 16; ++row) {
        auto high = row * 16, low = row * 16;
        uint64_t position = 0;
        for (uint64_t c = 1; c < 16; ++c) {
            auto code = row * 16 + c;
            if (arith::is_nan(t, code) ? !arith::is_nan(t, row * 16 + position)
                                       : arith::gt(t, code, row * 16 + position)) {
                position = c;
            }
            high = arith::maximum(t, high, code), low = arith::fmin(t, low, code);
        }
        EXPECT_TRUE(alike(t, bits_at(out[1], static_cast<int64_t>(row)), high)) << row;
        EXPECT_TRUE(alike(t, bits_at(out[1], static_cast<int64_t>(row + 16)), low)) << row;
        EXPECT_EQ(bits_at(out[2], static_cast<int64_t>(row)), position) << row;
    }
}
TYPED_TEST(Sixteen, narrowing_from_f32_rounds_once_to_even) {
    auto x = f32_near_ties();
    expect_codes<TypeParam>(
        through<float, TypeParam>(x, [](auto v) { return cast<TypeParam>(v); }), [&](uint64_t i) {
            return arith::convert(bits_at(x, static_cast<int64_t>(i)), ScalarType::FLOAT32,
                                  scalar_type_of<TypeParam>);
        });
}
TYPED_TEST(Sixteen, a_narrowing_in_the_middle_of_an_expression_rounds) {
    auto x = f32_near_ties();
    auto out = through<float, float>(
        x, [](auto v) { return cast<float>(cast<TypeParam>(v)) + v * 0.0f; });
    expect_codes<float>(out, [&](uint64_t i) {
        auto bits = bits_at(x, static_cast<int64_t>(i));
        auto f = std::bit_cast<float>(static_cast<uint32_t>(bits));
        auto narrow = arith::convert(bits, ScalarType::FLOAT32, scalar_type_of<TypeParam>);
        return static_cast<uint64_t>(
            std::bit_cast<uint32_t>(arith::to_float(scalar_type_of<TypeParam>, narrow) + f * 0.0f));
    });
}
TYPED_TEST(Sixteen, arithmetic_rounds_at_every_step) {
    constexpr auto t = scalar_type_of<TypeParam>;
    auto out = through<TypeParam, TypeParam>(every_code<TypeParam>(), [](auto x) {
        return sqrt(abs((x + TypeParam(1.0f)) * x - x / TypeParam(3.0f)));
    });
    auto one = arith::from_double(t, 1), three = arith::from_double(t, 3);
    expect_codes<TypeParam>(out, [&](uint64_t x) {
        auto y = arith::sub(t, arith::mul(t, arith::add(t, x, one), x), arith::div(t, x, three));
        auto root = std::sqrt(arith::to_float(t, arith::abs(t, y)));
        return arith::convert(std::bit_cast<uint32_t>(root), ScalarType::FLOAT32, t);
    });
}
TYPED_TEST(Sixteen, sums_round_at_every_step_of_a_fold) {
    constexpr auto t = scalar_type_of<TypeParam>;
    auto def = tile_kernel([](TensorView<const TypeParam, 1> X, TensorView<TypeParam, 1> Y) {
        auto i = axis("i", 1000);
        auto x = X[coord(0), shape(i)];
        Y(0).store(Scalar<TypeParam>(reduce(x, i, add, reduction::fold_left)));
        Y(1).store(Scalar<TypeParam>(reduce(x, i, add, reduction::fold_right)));
    });
    auto x = random_view<TypeParam>({1000}, 8);
    auto out = run_both(def.capture(tensor_shape(1000), tensor_shape(2)),
                        {x, line_output_of<TypeParam>(2)});
    uint64_t left = 0, right = 0;
    for (int64_t i = 0; i < 1000; ++i) {
        left = arith::add(t, left, bits_at(x, i));
        right = arith::add(t, bits_at(x, 999 - i), right);
    }
    EXPECT_EQ(bits_at(out[1], 0), left);
    EXPECT_EQ(bits_at(out[1], 1), right);
}

namespace {
template<class T, class R> R converted(T x) {
    auto out = through<T, R>(dense<T>({1}, {x}), [](auto v) { return cast<R>(v); });
    R r;
    std::memcpy(static_cast<void *>(&r), out.bytes.data(), sizeof(R));
    return r;
}
}// namespace

TEST(Conversions, take_one_rounding_from_the_wide_source) {
    EXPECT_EQ((converted<double, bfloat16>(1 + std::exp2(-8) + std::exp2(-40)).bits()), 0x3f81);
    EXPECT_EQ((converted<double, half>(65520 - std::exp2(-20)).bits()), 0x7bff);
    EXPECT_EQ((converted<int32_t, bfloat16>(16842753).bits()), 0x4b81);
    EXPECT_EQ((converted<int64_t, float>((int64_t{1} << 24) + 1)), 16777216.0f);
    EXPECT_EQ((converted<int64_t, float>((int64_t{1} << 60) + (int64_t{1} << 36) + 1)),
              std::exp2(60.0f) + std::exp2(37.0f));
    EXPECT_EQ((converted<uint64_t, float>((uint64_t{1} << 63) + (uint64_t{1} << 39))),
              std::exp2(63.0f));
}
TEST(Conversions, to_integers_truncate_and_saturate_and_nan_gives_zero) {
    const float inf = INFINITY;
    EXPECT_EQ((converted<float, int32_t>(inf)), INT32_MAX);
    EXPECT_EQ((converted<float, int32_t>(-inf)), INT32_MIN);
    EXPECT_EQ((converted<float, int32_t>(NAN)), 0);
    EXPECT_EQ((converted<float, int8_t>(510.0f)), 127);
    EXPECT_EQ((converted<float, uint8_t>(-3.0f)), 0);
    EXPECT_EQ((converted<double, uint64_t>(1e30)), UINT64_MAX);
    EXPECT_EQ((converted<float, int64_t>(-2.9f)), -2);
    EXPECT_EQ((converted<int32_t, int8_t>(300)), 44);
}
