// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// What the language says of views, bounds and memory, where no other file checks it.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {}// namespace

TEST(ViewsBoundsMemory, every_spelling_of_an_element_reads_it) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 1> Y) {
        Y(0).store(X(1, 2).load());
        Y(1).store(X[coord(1, 2)]);
        Y(2).store(X(coord(1, 2)).load());
        Y(3).store(X[coord(1, 2), shape(1, 1)].at(coord(0, 0)));
        Y(4).store(X[coord(-1, 2)]);
    });
    auto x = integer_view({3, 4}, 5);
    auto out = run_both(def.capture(tensor_shape(3, 4), tensor_shape(5)), {x, output_view({5})});
    for (int64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(at(out[1], i), at(x, 6)) << i;
    }
    EXPECT_EQ(at(out[1], 4), 0);
}
TEST(ViewsBoundsMemory, a_load_is_a_snapshot_whatever_aliases) {
    // Both parameters are the same memory.
    auto def = tile_kernel([](TensorView<float, 1> A, TensorView<float, 1> B) {
        auto i = axis("i", 8);
        auto a = A[coord(0), shape(i)];
        auto element = A(3).load();
        B(coord(0), shape(i)).store(a * 10.0f);
        auto again = A[coord(0), shape(i)];
        B(coord(8), shape(i)).store(a + again + element);
    });
    auto kernel = def.capture(tensor_shape(16), tensor_shape(16));
    auto values = integer_view({16}, 4);
    std::vector<View> cpu{values}, reference{values};
    const auto &module = *module_of(kernel);
    std::vector<KernelArgument> twice{argument_of(reference[0]), argument_of(reference[0])};
    interpreter::run(module, twice);
    auto compiled = compiler::compile_cpu(module, {emit::host_cpu(), 1, true, {}});
    run_cpu(*compiled, {argument_of(cpu[0]), argument_of(cpu[0])});
    EXPECT_TRUE(same(reference[0], cpu[0], 0, 0)) << compiled->plan;
    for (int64_t e = 0; e < 8; ++e) {
        EXPECT_EQ(at(cpu[0], e), 10 * at(values, e));
        EXPECT_EQ(at(cpu[0], 8 + e), 11 * at(values, e) + at(values, 3));
    }
}
TEST(ViewsBoundsMemory, a_box_may_lie_far_outside_on_any_side) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y,
                              Scalar<int64_t> r, Scalar<int64_t> c) {
        auto i = axis("i", 3), j = axis("j", 5);
        auto x = X(coord(r, c), shape(i, j)).load(-9.0f);
        Y(coord(0, 0), shape(i, j)).store(x);
        Y(coord(r + 3, c), shape(i, j)).store(x + 100.0f);
    });
    auto kernel = def.capture(tensor_shape(4, 6), tensor_shape(7, 6));
    auto x = integer_view({4, 6}, 5);
    const int64_t far = int64_t{1} << 40;
    for (int64_t r : {-far, int64_t{-2}, int64_t{0}, int64_t{3}, far}) {
        for (int64_t c : {-far, int64_t{-4}, int64_t{1}, int64_t{5}, far}) {
            auto out = run_both(kernel, {x, output_view({7, 6})}, {bits_of(r), bits_of(c)});
            for (int64_t e = 0; e < 15; ++e) {
                auto row = r + e / 5, column = c + e % 5;
                auto inside = row >= 0 && row < 4 && column >= 0 && column < 6;
                auto overwritten = row + 3 == e / 5;// the second store hit this element's row
                if (!overwritten && r + 3 > 2) {
                    EXPECT_EQ(at(out[1], e / 5 * 6 + e % 5), inside ? at(x, row * 6 + column) : -9);
                }
            }
        }
    }
}
TEST(ViewsBoundsMemory, a_fallback_is_one_per_load) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 2> Y) {
        auto i = axis("i", 4);
        Y(coord(0, 0), shape(1, i)).store(X(coord(2), shape(i)).load(-INFINITY));
        Y(coord(1, 0), shape(1, i)).store(X(coord(2), shape(i)).load(7.0f));
        Y(coord(2, 0), shape(1, i)).store(X(coord(2), shape(i)).load());
        Y(coord(3, 0), shape(1, i)).store(X[coord(2), shape(i), bounds::zero]);
    });
    auto out = run_both(def.capture(tensor_shape(3), tensor_shape(4, 4)),
                        {dense<float>({3}, {1, 2, 3}), output_view({4, 4})});
    const double fills[] = {-INFINITY, 7, 0, 0};
    for (int64_t r = 0; r < 4; ++r) {
        EXPECT_EQ(at(out[1], 4 * r), 3);
        EXPECT_EQ(at(out[1], 4 * r + 1), fills[r]);
        EXPECT_EQ(at(out[1], 4 * r + 3), fills[r]);
    }
}
TEST(ViewsBoundsMemory, what_predicate_leaves_undefined_may_be_read_but_not_stored) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 8);
        auto x = X[coord(0), shape(i), bounds::predicate];
        auto used = ite(iota(i) < X.extent(0), x, -1.0f);// only what was inside
        Y(coord(0), shape(i)).store(used);
        Y(8).store(Scalar<float>(reduce(x, i, add, {.mask = iota(i) < X.extent(0)})));
    });
    auto x = integer_view({5}, 3);
    auto out = run_both(def.capture(tensor_shape(5), tensor_shape(9)), {x, output_view({9})});
    double sum = 0;
    for (int64_t e = 0; e < 8; ++e) {
        EXPECT_EQ(at(out[1], e), e < 5 ? at(x, e) : -1);
        sum += e < 5 ? at(x, e) : 0;
    }
    EXPECT_EQ(at(out[1], 8), sum);
}
