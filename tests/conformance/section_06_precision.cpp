// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>
#include <luisa/tile/sort.h>

#include "support/both.h"

// What the language says of precision, where no other file checks it.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// x + y · 2 in T, which every element type that computes has.
template<class T> void expect_computes() {
    auto def = tile_kernel([](TensorView<const T, 1> X, TensorView<T, 1> Y) {
        auto i = axis("i", 37);
        auto x = X[coord(0), shape(i)];
        Y(coord(0), shape(i)).store(maximum(x + x * T(2), x) - x);
        Y(37).store(Scalar<T>(reduce(x, i, add)));
    });
    auto x = integer_view<T>({37}, 3);
    auto out = run_both(def.capture(tensor_shape(37), tensor_shape(38)), {x, output_view<T>({38})});
    for (int64_t e = 0; e < 37; ++e) {
        auto v = at(x, e);
        EXPECT_EQ(at(out[1], e), at(x, e) < 0 ? 0 : 2 * v) << to_string(x.type);
    }
}
/// The same modulo 2^bits, where negative numbers are large ones.
template<class T> void expect_wraps() {
    auto def = tile_kernel([](TensorView<const T, 1> X, TensorView<T, 1> Y) {
        auto i = axis("i", 37);
        auto x = X[coord(0), shape(i)];
        Y(coord(0), shape(i)).store(maximum(x * x + 5, x) / 3 - x % 7 + (x >> 2));
        Y(37).store(Scalar<T>(reduce(x, i, add)));
        Y(38).store(Scalar<T>(reduce(x, i, maximum)));
    });
    auto x = integer_view<T>({37}, 3, 100);
    auto out = run_both(def.capture(tensor_shape(37), tensor_shape(39)), {x, output_view<T>({39})});
    T sum = 0, most = 0;
    auto number = [](const View &v, int64_t e) {
        T value;
        std::memcpy(&value, v.bytes.data() + static_cast<size_t>(e) * sizeof(T), sizeof(T));
        return value;
    };
    for (int64_t e = 0; e < 37; ++e) {
        uint64_t v = number(x, e);
        auto square = static_cast<T>(v * v + 5);
        auto right = static_cast<T>(std::max<uint64_t>(square, v) / 3 - v % 7 + (v >> 2));
        EXPECT_EQ(number(out[1], e), right) << to_string(x.type) << " " << v;
        sum = static_cast<T>(sum + v), most = std::max(most, static_cast<T>(v));
    }
    EXPECT_EQ(number(out[1], 37), sum) << to_string(x.type);
    EXPECT_EQ(number(out[1], 38), most) << to_string(x.type);
}
/// `copy` of elements of any type, with what lies outside of the source, keeps their bits.
template<class T> void expect_copies() {
    auto def = tile_kernel([](TensorView<const T, 2> X, TensorView<T, 2> Y) {
        for (auto &nest : parallel(shape(2))) {
            copy(X(coord(nest.index() * 8, 1), shape(8, 16)),
                 Y(coord(nest.index() * 8, 0), shape(8, 16)));
        }
    });
    View x;
    x.type = scalar_type_of<T>, x.extents = {13, 16}, x.strides = {16, 1};
    for (size_t b = 0; b < 13 * 16 * sizeof(T); ++b) {
        x.bytes.push_back(static_cast<uint8_t>(std::same_as<T, bool> ? b % 3 == 0 : b * 37 + 11));
    }
    auto y = x;
    y.extents = {16, 16};
    y.bytes.assign(256 * sizeof(T), 1);
    auto out = run_both(def.capture(tensor_shape(13, 16), tensor_shape(16, 16)), {x, y});
    for (size_t e = 0; e < 256; ++e) {
        std::vector<uint8_t> right(sizeof(T));
        if (e < 13 * 16 && e % 16 < 15) {
            std::memcpy(right.data(), x.bytes.data() + (e + 1) * sizeof(T), sizeof(T));
        }
        ASSERT_EQ(std::memcmp(out[1].bytes.data() + e * sizeof(T), right.data(), sizeof(T)), 0)
            << to_string(x.type) << " " << e;
    }
}
/// The codes of an 8-bit float.
template<class T> View codes() {
    std::vector<T> all;
    for (unsigned c = 0; c < 256; ++c) {
        all.push_back(T::from_bits(static_cast<uint8_t>(c)));
    }
    return dense<T>({256}, all);
}
/// What the narrow formats can do: load, store, copy, compare, min/max, neg/abs, gather, sort, convert, and be factors.
template<class T> void expect_moves_and_compares() {
    auto def = tile_kernel(
        [](TensorView<const T, 1> X, TensorView<T, 2> Y, TensorView<float, 2> F) {
            auto i = axis("i", 256);
            auto x = X[coord(0), shape(i)];
            auto backwards = flip(x, i);
            Y(coord(0, 0), shape(1, i)).store(x);
            Y(coord(1, 0), shape(1, i)).store(minimum(x, backwards));
            Y(coord(2, 0), shape(1, i)).store(maximum(x, backwards));
            Y(coord(3, 0), shape(1, i)).store(-x);
            Y(coord(4, 0), shape(1, i)).store(abs(x));
            Y(coord(5, 0), shape(1, i)).store(gather(x, iota(i) * 3, i, T::from_bits(1)));
            Y(coord(6, 0), shape(1, i)).store(sort(x, i).values);
            Y(coord(7, 0), shape(1, i)).store(ite(x < backwards, x, backwards));
            F(coord(0, 0), shape(1, i)).store(cast<float>(x));
            auto wide = cast<float>(x);
            auto finite = ite(wide - wide == 0.0f, wide, 0.0f);
            Y(coord(8, 0), shape(1, i)).store(quantize<T>(finite * 0.5f, true));
            auto a = quantize<T>(finite, true);
            F(1, 0).store(
                Scalar<float>(mma(a, a, zeros<float>(shape()), {.allow_reassociation = false})));
        });
    auto x = codes<T>();
    auto out = run_both(def.capture(tensor_shape(256), tensor_shape(9, 256), tensor_shape(2, 256)),
                        {x, dense<T>({9, 256}, {T::from_bits(0x55)}), output_view({2, 256})});
    EXPECT_EQ(std::memcmp(out[1].bytes.data(), x.bytes.data(), 256), 0);
    for (size_t e = 0; e < 256; ++e) {
        EXPECT_EQ(out[1].bytes[3 * 256 + e], x.bytes[e] ^ 0x80);
        EXPECT_EQ(out[1].bytes[4 * 256 + e], x.bytes[e] & 0x7f);
        EXPECT_EQ(out[1].bytes[5 * 256 + e], 3 * e < 256 ? x.bytes[3 * e] : 1);
    }
    float squares = 0;
    for (int64_t e = 0; e < 256; ++e) {
        auto v = static_cast<float>(at(x, e));
        squares = std::isfinite(v) ? std::fma(v, v, squares) : squares;
    }
    EXPECT_EQ(at(out[2], 256), squares);
}

}// namespace

TEST(Precision, half_bf16_f32_f64_and_all_integers_compute) {
    expect_computes<half>();
    expect_computes<bf16>();
    expect_computes<float>();
    expect_computes<double>();
    expect_computes<int8_t>();
    expect_computes<int16_t>();
    expect_computes<int32_t>();
    expect_computes<int64_t>();
}
TEST(Precision, unsigned_integers_wrap_at_their_width) {
    expect_wraps<uint8_t>();
    expect_wraps<uint16_t>();
    expect_wraps<uint32_t>();
    expect_wraps<uint64_t>();
}
TEST(Precision, copies_of_every_type_keep_the_bits) {
    expect_copies<bool>();
    expect_copies<int8_t>();
    expect_copies<uint16_t>();
    expect_copies<int32_t>();
    expect_copies<uint64_t>();
    expect_copies<float8_e4m3fn>();
    expect_copies<float8_e5m2>();
    expect_copies<half>();
    expect_copies<bf16>();
    expect_copies<float>();
    expect_copies<double>();
}
TEST(Precision, bool_computes) {
    auto def = tile_kernel([](TensorView<const bool, 1> X, TensorView<bool, 1> Y) {
        auto i = axis("i", 5);
        auto x = X[coord(0), shape(i)];
        auto y = !x || (x && x != x);
        Y(coord(0), shape(i)).store(y);
        Y(5).store(Scalar<bool>(reduce(y, i, luisa::tile::logical_and)));
    });
    View x;
    x.type = ScalarType::BOOL, x.extents = {5}, x.strides = {1};
    x.bytes = {1, 0, 1, 1, 0};
    View y;
    y.type = ScalarType::BOOL, y.extents = {6}, y.strides = {1};
    y.bytes = {1, 1, 1, 1, 1, 1};
    auto out = run_both(def.capture(tensor_shape(5), tensor_shape(6)), {x, y});
    EXPECT_EQ(out[1].bytes, (std::vector<uint8_t>{0, 1, 0, 0, 1, 0}));
}
TEST(Precision, eight_bit_floats_move_compare_sort_convert_and_are_factors) {
    expect_moves_and_compares<float8_e4m3fn>();
    expect_moves_and_compares<float8_e5m2>();
}
TEST(Precision, storage_operation_and_accumulation_have_types_of_their_own) {
    // Stored as half, multiplied in f32, accumulated in f64.
    auto def = tile_kernel(
        [](TensorView<const half, 1> X, TensorView<half, 1> Y, TensorView<double, 1> Z) {
            auto i = axis("i", 1000);
            auto x = cast<float>(X[coord(0), shape(i)]);
            auto square = x * x;
            Z(0).store(Scalar<double>(reduce(cast<double>(square), i, add, reduction::fold_left)));
            Y(coord(0), shape(i)).store(cast<half>(square));
        });
    auto x = random_view<half>({1000}, 3);
    auto out = run_both(def.capture(tensor_shape(1000), tensor_shape(1000), tensor_shape(1)),
                        {x, output_view<half>({1000}), output_view<double>({1})});
    double sum = 0;
    for (int64_t e = 0; e < 1000; ++e) {
        auto v = static_cast<float>(at(x, e));
        sum += static_cast<double>(v * v);
        EXPECT_EQ(at(out[1], e), static_cast<double>(static_cast<float>(half(v * v))));
    }
    EXPECT_EQ(at(out[2], 0), sum);
}
TEST(Precision, scales_and_zero_points_are_ordinary_tiles) {
    auto def = tile_kernel([](TensorView<const int8_t, 2> W, TensorView<const float, 1> S,
                              TensorView<const int8_t, 1> Z, TensorView<float, 2> Y) {
        auto r = axis("r", 5), c = axis("c", 33);
        auto w = cast<int32_t>(W[coord(0, 0), shape(r, c)]);
        auto zero = cast<int32_t>(Z[coord(0), shape(r)]);
        Y(coord(0, 0), shape(r, c)).store(cast<float>(w - zero) * S[coord(0), shape(r)]);
    });
    auto w = integer_view<int8_t>({5, 33}, 1, 100), z = integer_view<int8_t>({5}, 2, 100);
    auto s = random_view({5}, 3);
    auto out = run_both(
        def.capture(tensor_shape(5, 33), tensor_shape(5), tensor_shape(5), tensor_shape(5, 33)),
        {w, s, z, output_view({5, 33})});
    for (int64_t e = 0; e < 165; ++e) {
        auto difference = static_cast<float>(at(w, e) - at(z, e / 33));
        EXPECT_EQ(at(out[3], e), difference * static_cast<float>(at(s, e / 33)));
    }
}
