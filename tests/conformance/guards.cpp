// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/guarded.h"

// No access outside a view: its memory ends or begins at a page that cannot be touched.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

template<class T> View numbers(std::vector<int64_t> extents, uint32_t seed) {
    std::mt19937 engine{seed};
    std::vector<T> values(251);
    for (auto &x : values) {
        auto r = static_cast<int>(engine() % 4);
        if constexpr (is_floating_element<T> && sizeof(T) == 1) {
            x = T::from_bits(static_cast<uint8_t>(0x38 + r));
        } else {
            x = static_cast<T>(static_cast<float>(r));
        }
    }
    return dense<T>(std::move(extents), values);
}
template<> View numbers<bool>(std::vector<int64_t> extents, uint32_t seed) {
    auto v = numbers<uint8_t>(std::move(extents), seed);
    for (auto &b : v.bytes) {
        b &= 1;
    }
    v.type = ScalarType::BOOL;
    return v;
}

constexpr int64_t extents[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 130};

template<class T> class Edges : public ::testing::Test {};
using Elements = ::testing::Types<bool, int8_t, uint8_t, int16_t, int32_t, int64_t, half, bfloat16,
                                  float, double, float8_e4m3fn, float8_e5m2>;
TYPED_TEST_SUITE(Edges, Elements);

}// namespace

TYPED_TEST(Edges, whole_tiles_touch_only_the_view) {
    for (auto n : extents) {
        auto def = tile_kernel([=](TensorView<const TypeParam, 1> X, TensorView<TypeParam, 1> Y) {
            auto i = axis("i", n);
            Y(coord(0), shape(i)).store(X[coord(0), shape(i)]);
        });
        GuardedKernel kernel{def.capture(tensor_shape(n), tensor_shape(n))};
        kernel.run({numbers<TypeParam>({n}, 1), numbers<TypeParam>({n}, 2)});
    }
}
TYPED_TEST(Edges, overhanging_tiles_are_masked_on_both_sides) {
    for (int64_t tile : {8, 16, 64}) {
        auto def = tile_kernel([=](TensorView<const TypeParam, 2> X, TensorView<TypeParam, 2> Y) {
            auto i = axis("i", 3), j = axis("j", tile);
            for (auto &nest :
                 parallel(shape(ceil_div(X.extent(0) + 2, 3), ceil_div(X.extent(1) + 5, tile)))) {
                auto at = coord(nest.index(0) * 3 - 2, nest.index(1) * tile - 5);
                Y(at, shape(i, j)).store(X[at, shape(i, j)]);
            }
        });
        GuardedKernel kernel{def.capture(tensor_shape(dynamic("r"), dynamic("c")),
                                         tensor_shape(dynamic("r"), dynamic("c")))};
        for (auto n : extents) {
            kernel.run({numbers<TypeParam>({4, n}, 1), numbers<TypeParam>({4, n}, 2)});
        }
    }
}
TYPED_TEST(Edges, overhanging_tiles_of_strided_views_are_masked) {
    const std::pair<std::vector<int64_t>, int64_t> layouts[] = {
        {{1, 5}, 0}, {{19, 1}, 0}, {{40, 2}, 0}, {{-17, 1}, 68}, {{17, -1}, 16}, {{0, 1}, 0}};
    for (const auto &[strides, origin] : layouts) {
        auto def = tile_kernel([=](TensorView<const TypeParam, 2> X, TensorView<TypeParam, 2> Y) {
            auto i = axis("i", 4), j = axis("j", 16);
            for (auto &nest : parallel(shape(2, 2))) {
                auto at = coord(nest.index(0) * 4, nest.index(1) * 16);
                Y(at, shape(i, j)).store(X[at, shape(i, j)]);
            }
        });
        auto x = numbers<TypeParam>({200}, 1);
        x.extents = {5, 17}, x.strides = strides, x.origin = origin;
        GuardedKernel kernel{
            def.capture(tensor_shape(5, 17).with_strides(strides), tensor_shape(5, 17))};
        kernel.run({x, numbers<TypeParam>({5, 17}, 2)});
    }
}
TYPED_TEST(Edges, gathers_with_bad_indices_touch_only_the_view) {
    auto def = tile_kernel([](TensorView<const TypeParam, 1> X, TensorView<const int64_t, 1> I,
                              TensorView<TypeParam, 1> Y) {
        auto i = axis("i", 19), o = axis("o", 32);
        auto x = X[coord(0), shape(i)];
        Y(coord(0), shape(o)).store(gather(x, I[coord(0), shape(o)], i, TypeParam{}));
    });
    GuardedKernel kernel{def.capture(tensor_shape(19), tensor_shape(27), tensor_shape(27))};
    std::vector<int64_t> index{0, -1, 18, 19, INT64_MAX, INT64_MIN, 1 << 20, 7};
    kernel.run(
        {numbers<TypeParam>({19}, 1), dense<int64_t>({27}, index), numbers<TypeParam>({27}, 2)});
}
TYPED_TEST(Edges, elements_outside_are_neither_read_nor_written) {
    auto def = tile_kernel([](TensorView<const TypeParam, 1> X, TensorView<TypeParam, 1> Y) {
        for (auto &nest : parallel(range(-9000, 9000, 1000))) {
            auto x = X(nest.index()).load();
            Y(nest.index() / 1000).store(x);
        }
    });
    GuardedKernel kernel{def.capture(tensor_shape(dynamic("n")), tensor_shape(dynamic("n")))};
    for (int64_t n : {1, 5, 3001}) {
        kernel.run({numbers<TypeParam>({n}, 1), numbers<TypeParam>({n}, 2)});
    }
}

namespace {

struct Product {
    bool ta, tb;
};
template<class A, class B, class C>
void guarded_product(Product f, int64_t M, int64_t N, int64_t K) {
    auto def = tile_kernel([=](TensorView<const A, 2> X, TensorView<const B, 2> Y,
                               TensorView<C, 2> Z) {
        auto m = axis("m", 16), n = axis("n", 32), k = axis("k", 8);
        for (auto &nest : parallel(shape(ceil_div(Z.extent(0), 16), ceil_div(Z.extent(1), 32)))) {
            auto m0 = nest.index(0) * 16, n0 = nest.index(1) * 32;
            auto acc = zeros<C>(shape(m, n));
            for (auto &s : nest.pipeline(range(0, K, 8))) {
                auto k0 = s.index();
                auto a = f.ta ? X[coord(k0, m0), shape(k, m)] : X[coord(m0, k0), shape(m, k)];
                auto b = f.tb ? Y[coord(n0, k0), shape(n, k)] : Y[coord(k0, n0), shape(k, n)];
                acc = mma(a, b, acc);
            }
            Z(coord(m0, n0), shape(m, n)).store(acc);
        }
    });
    std::vector<int64_t> ea{M, K}, eb{K, N};
    if (f.ta) {
        std::swap(ea[0], ea[1]);
    }
    if (f.tb) {
        std::swap(eb[0], eb[1]);
    }
    GuardedKernel kernel{
        def.capture(tensor_shape(ea[0], ea[1]), tensor_shape(eb[0], eb[1]), tensor_shape(M, N))};
    kernel.run({numbers<A>(ea, 1), numbers<B>(eb, 2), numbers<C>({M, N}, 3)});
}

template<class T> class ProductEdges : public ::testing::Test {};
template<class A, class B, class C> struct Of {
    static void run(Product f, int64_t M, int64_t N, int64_t K) {
        guarded_product<A, B, C>(f, M, N, K);
    }
};
using Operands = ::testing::Types<Of<float, float, float>, Of<half, half, float>,
                                  Of<bfloat16, bfloat16, float>, Of<int8_t, int8_t, int32_t>,
                                  Of<uint8_t, int8_t, int32_t>, Of<double, double, double>,
                                  Of<float8_e4m3fn, float8_e5m2, float>, Of<half, half, half>>;
TYPED_TEST_SUITE(ProductEdges, Operands);

}// namespace

TYPED_TEST(ProductEdges, products_read_only_their_operands) {
    for (bool ta : {false, true}) {
        for (bool tb : {false, true}) {
            for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                   {3, 5, 7},
                                   {16, 32, 8},
                                   {17, 33, 9},
                                   {15, 31, 23},
                                   {40, 3, 17},
                                   {2, 97, 4}}) {
                TypeParam::run({ta, tb}, m, n, k);
            }
        }
    }
}
TEST(RowEdges, rows_reduced_and_rewritten_touch_only_the_view) {
    for (auto n : extents) {
        auto def = tile_kernel([=](TensorView<float, 2> X, TensorView<float, 1> Y) {
            auto i = axis("i", 2), j = axis("j", n);
            for (auto &nest : parallel(shape(ceil_div(X.extent(0), 2)))) {
                auto at = coord(nest.index() * 2, 0);
                auto x = X[at, shape(i, j)];
                auto e = exp(x - reduce(x, j, maximum));
                X(at, shape(i, j)).store(e / reduce(e, j, add));
                Y(coord(nest.index() * 2), shape(i)).store(reduce(x * x, j, add));
            }
        });
        GuardedKernel kernel{def.capture(tensor_shape(5, n), tensor_shape(5))};
        kernel.run({random_view({5, n}, 1), output_view({5})}, {}, 1e-5);
    }
}
TEST(GuardDeathTest, one_byte_beyond_either_end_is_fatal) {
    EXPECT_DEATH(
        {
            GuardedMemory m(5, Guard::AFTER);
            static_cast<volatile char *>(m.data)[5] = 1;
        },
        "");
    EXPECT_DEATH(
        {
            GuardedMemory m(5, Guard::BEFORE);
            static_cast<volatile char *>(m.data)[-1] = 1;
        },
        "");
}
