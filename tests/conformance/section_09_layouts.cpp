// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>
#include <luisa/tile/inspect.h>

#include "support/both.h"

// What the language says of layouts, as far as programs can say it: strides of memory, and maps into views.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {}// namespace

TEST(Layouts, nested_radices_with_holes_hold_what_boxes_store) {
    // Three dimensions in any order of strides, dense and with holes: the arithmetic is CuTe's.
    for (auto strides : {stride(15, 5, 1), stride(1, 4, 12), stride(5, 24, 1), stride(100, 2, 7)}) {
        auto def = tile_kernel([=](TensorView<const int32_t, 3> X, TensorView<int32_t, 3> Y) {
            auto a = axis("a", 4), b = axis("b", 3), c = axis("c", 5);
            for (auto &nest : parallel(shape(2))) {
                auto m = memory<int32_t>(layout(shape(a, b, c), strides));
                m.store(X[coord(0, 0, 0), shape(a, b, c)]);
                // One plane anew, at a place that the instance knows.
                m(coord(nest.index(), 0, 0), shape(1, b, c))
                    .store(full<int32_t>(shape(1, b, c), 9));
                Y(coord(nest.index() * 4, 0, 0), shape(a, b, c)).store(m.load());
            }
        });
        auto x = integer_view<int32_t>({4, 3, 5}, 3, 100);
        auto out = run_both(def.capture(tensor_shape(4, 3, 5), tensor_shape(8, 3, 5)),
                            {x, output_view<int32_t>({8, 3, 5})});
        for (int64_t e = 0; e < 120; ++e) {
            auto plane = e / 15 % 4, instance = e / 60;
            EXPECT_EQ(at(out[1], e), plane == instance ? 9 : at(x, e % 60)) << e;
        }
    }
}
TEST(Layouts, memory_laid_out_by_index_maps_holds_what_is_stored) {
    // Rows padded, digits exchanged, swizzled, mirrored, in blocks, by a lambda that is no sum: any proved map.
    IndexSet box{16, 24};
    std::vector<IndexMap> maps{
        IndexMap::strided({16, 24}, {1, 17}),
        IndexMap::mixed_radix({{{4, 4}, {{6}, {96}}}, {{2, 3, 4}, {{3}, {1}, {24}}}}, {5}),
        compose(IndexMap::swizzle(3, 0, 5, 512), IndexMap::strided({16, 24}, {32, 1}).into({512})),
        IndexMap::of(box, {384}, [](IndexExpr i, IndexExpr j) { return 383 - (i * 24 + j); }),
        IndexMap::of(box, {512}, [](IndexExpr i, IndexExpr j) { return i * 32 + (j ^ (i & 7)); }),
        IndexMap::piecewise(
            box, {384},
            {{box.where([](IndexExpr i, IndexExpr) { return i < 5; }),
              IndexMap::strided({16, 24}, {24, 1})},
             {box, IndexMap::of(box, {384},
                                [](IndexExpr i, IndexExpr j) { return 120 + j * 11 + (i - 5); })}}),
    };
    for (const auto &map : maps) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y,
                                   TensorView<float, 2> Z) {
            auto i = axis("i", 16), j = axis("j", 24), k = axis("k", 24);
            for (auto &nest : parallel(shape(3))) {
                auto m = memory<float>(layout(shape(i, j), map));
                m.store(X[coord(0, 0), shape(i, j)]);
                m(coord(nest.index() * 5, 4), shape(1, 9)).store(full<float>(shape(1, 9), 9.0f));
                for (auto &step : nest.serial(range(0, 4))) {
                    m(coord(step.index(), 2), shape(1, axis("v", 1)))
                        .store(cast<float>(step.index()));
                }
                Y(coord(nest.index() * 16, 0), shape(i, j)).store(m.load());
                // Along the other dimension, and as an operand of a product.
                auto x = m(coord(3, 0), shape(axis("r", 13), k)).load();
                Z(coord(nest.index(), 0), shape(1, k))
                    .store(reduce(x, x.axis(0), add, reduction::fold_left));
            }
        });
        auto x = integer_view({16, 24}, 3, 50);
        auto out = run_both(
            def.capture(tensor_shape(16, 24), tensor_shape(48, 24), tensor_shape(3, 24)),
            {x, output_view({48, 24}), output_view({3, 24})});
        for (int64_t e = 0; e < 48 * 24; ++e) {
            auto n = e / 384, r = e / 24 % 16, c = e % 24;
            auto want = r < 4 && c == 2                     ? static_cast<double>(r)
                        : r == n * 5 && c >= 4 && c < 4 + 9 ? 9
                                                            : at(x, e % 384);
            ASSERT_EQ(at(out[1], e), want) << map.text() << " " << e;
        }
    }
}
template<class T> void store_through_children_branches_and_loops(const IndexMap &map) {
    auto def = tile_kernel([=](TensorView<const T, 2> X, TensorView<T, 2> Y) {
        auto i = axis("i", 7), j = axis("j", 13);
        for (auto &nest : parallel(shape(3))) {
            auto m = memory<T>(layout(shape(i, j), map));
            for (auto &row : nest.parallel(shape(7))) {
                m(coord(row.index(), 0), shape(1, j)).store(X[coord(row.index(), 0), shape(1, j)]);
            }
            if_(
                nest.index() == int64_t{1},
                [&] { m(coord(2, 1), shape(5, 3)).store(zeros<T>(shape(5, 3))); },
                [&] {
                    // Beyond the object nothing is stored.
                    m(coord(5, 10), shape(4, 8))
                        .store(full<T>(shape(4, 8), T(static_cast<float>(5))));
                });
            Scalar<int64_t> k = int64_t{0};
            while_([&] { return k < int64_t{4}; },
                   [&] {
                       m(coord(k, 12 - k), shape(1, 1)).store(cast<T>(k + int64_t{20}));
                       k = k + int64_t{1};
                   });
            Y(coord(nest.index() * 7, 0), shape(i, j)).store(m.load());
        }
    });
    auto x = integer_view<T>({7, 13}, 3, 9);
    auto out = run_both(def.capture(tensor_shape(7, 13), tensor_shape(21, 13)),
                        {x, output_view<T>({21, 13})});
    for (int64_t e = 0; e < 3 * 91; ++e) {
        auto n = e / 91, r = e / 13 % 7, c = e % 13;
        auto want = r < 4 && c == 12 - r                  ? static_cast<double>(r + 20)
                    : n == 1 && r >= 2 && c >= 1 && c < 4 ? 0
                    : n != 1 && r >= 5 && c >= 10         ? 5
                                                          : at(x, e % 91);
        ASSERT_EQ(at(out[1], e), want) << map.text() << " " << e;
    }
}
TEST(Layouts, hold_through_children_branches_and_loops) {
    for (const auto &map :
         {IndexMap::strided({7, 13}, {1, 8}),
          IndexMap::of({7, 13}, {128}, [](auto i, auto j) { return i * 16 + (j ^ (i & 3)); })}) {
        store_through_children_branches_and_loops<int8_t>(map);
        store_through_children_branches_and_loops<half>(map);
        store_through_children_branches_and_loops<float>(map);
        store_through_children_branches_and_loops<int64_t>(map);
    }
}
TEST(Layouts, products_read_operands_laid_out_by_maps) {
    // As a block is kept for a matrix unit: rows of bits exchanged, columns of the other operand together.
    auto swizzled = IndexMap::of({16, 8}, {128},
                                 [](IndexExpr r, IndexExpr c) { return r * 8 + (c ^ (r & 7)); });
    for (const auto &other :
         {IndexMap::strided({8, 24}, {1, 8}), IndexMap::strided({8, 24}, {40, 1})}) {
        auto def = tile_kernel([=](TensorView<const float, 2> A, TensorView<const float, 2> B,
                                   TensorView<float, 2> C) {
            auto m = axis("m", 16), n = axis("n", 24), k = axis("k", 8);
            for (auto &nest : parallel(shape(2, 2))) {
                auto a = memory<float>(layout(shape(m, k), swizzled));
                auto b = memory<float>(layout(shape(k, n), other));
                auto sum = zeros<float>(shape(m, n));
                for (auto &step : nest.serial(range(0, 21, 8))) {
                    a.store(A[coord(nest.index(0) * 16, step.index()), shape(m, k)]);
                    b.store(B[coord(step.index(), nest.index(1) * 24), shape(k, n)]);
                    sum = mma(a.load(), b.load(), sum);
                }
                C(coord(nest.index(0) * 16, nest.index(1) * 24), shape(m, n)).store(sum);
            }
        });
        auto out = run_both(
            def.capture(tensor_shape(29, 21), tensor_shape(21, 41), tensor_shape(29, 41)),
            {integer_view({29, 21}, 1), integer_view({21, 41}, 2), output_view({29, 41})});
        for (int64_t e = 0; e < 29 * 41; ++e) {
            double sum = 0;
            for (int64_t k = 0; k < 21; ++k) {
                sum += at(out[0], e / 41 * 21 + k) * at(out[1], k * 41 + e % 41);
            }
            ASSERT_EQ(at(out[2], e), sum) << other.text();
        }
    }
}
TEST(Layouts, a_layout_decides_where_elements_lie) {
    // What a CPU keeps for a task grows with the codomain of the layout, and with nothing else.
    auto scratch = [](const IndexMap &map) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
            auto i = axis("i", 8), j = axis("j", 16);
            for (auto &nest : parallel(shape(2))) {
                auto m = memory<float>(layout(shape(i, j), map));
                for (auto &step : nest.serial(range(0, 8))) {
                    m(coord(step.index(), 0), shape(1, j))
                        .store(X[coord(step.index(), 0), shape(1, j)]);
                }
                Y(coord(nest.index() * 8, 0), shape(i, j)).store(m.load());
            }
        });
        auto kernel = def.capture(tensor_shape(8, 16), tensor_shape(16, 16));
        run_both(kernel, {integer_view({8, 16}, 3, 50), output_view({16, 16})});
        return compiler::compile_cpu(*module_of(kernel), {emit::host_cpu(), 1, false, {}})
            ->scratch_bytes;
    };
    EXPECT_LT(scratch(IndexMap::strided({8, 16}, {16, 1})), 2000u);
    EXPECT_GE(scratch(IndexMap::strided({8, 16}, {1000, 1})), 7016u * 4);
    EXPECT_GE(scratch(IndexMap::strided({8, 16}, {1, 1000})), 15008u * 4);
    EXPECT_GE(scratch(IndexMap::strided({8, 16}, {16, 1}).into({9000})), 9000u * 4);
}
TEST(Layouts, vectors_follow_the_dimension_that_a_layout_moves_by_one) {
    for (bool by_columns : {false, true}) {
        auto map = by_columns ? IndexMap::strided({64, 48}, {1, 67})
                              : IndexMap::strided({64, 48}, {50, 1});
        auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
            auto i = axis("i", 64), j = axis("j", 48);
            auto along = by_columns ? i : j, across = by_columns ? j : i;
            for (auto &nest : parallel(shape(2))) {
                auto m = memory<float>(layout(shape(i, j), map));
                auto x = X[coord(0), shape(along)];
                for (auto &step : nest.serial(shape(by_columns ? 48 : 64))) {
                    auto s = cast<float>(step.index());
                    auto box = by_columns ? shape(i, 1) : shape(1, j);
                    auto at = by_columns ? coord(0, step.index()) : coord(step.index(), 0);
                    m(at, box).store(reshape(x * s, box));
                }
                auto sum = reduce(m.load(), across, add, reduction::fold_left);
                Y(coord(nest.index() * along.extent), shape(along)).store(sum);
            }
        });
        int64_t n = by_columns ? 64 : 48, terms = by_columns ? 48 : 64;
        auto kernel = def.capture(tensor_shape(n), tensor_shape(2 * n));
        auto out = run_both(kernel, {integer_view({n}, 3), output_view({2 * n})});
        for (int64_t e = 0; e < 2 * n; ++e) {
            EXPECT_EQ(at(out[1], e),
                      at(out[0], e % n) * static_cast<double>(terms * (terms - 1) / 2));
        }
        auto machine = forms(kernel).machine;
        EXPECT_EQ(machine.find("gather"), std::string::npos) << machine;
        EXPECT_EQ(machine.find("scatter"), std::string::npos) << machine;
        EXPECT_NE(machine.find("x f32>"), std::string::npos) << machine;
    }
}
TEST(Layouts, instances_begin_in_the_order_of_a_layout) {
    // Each instance draws a number; on one thread it is its place in the order.
    auto mirrored = [](IndexExpr i, IndexExpr j) { return 23 - i * 4 - j; };
    auto swapped_bits = [](IndexExpr i, IndexExpr j) { return i * 8 + (j ^ (i & 7)); };
    std::vector<IndexMap> maps{
        IndexMap::strided({6, 4}, {1, 6}),
        IndexMap::strided({6, 4}, {4, 1}),
        IndexMap::mixed_radix({{{2, 3}, {{1}, {8}}}, {{4}, {{2}}}}, {0}),
        IndexMap::of({6, 4}, {24}, mirrored),
        IndexMap::of({4, 8}, {32}, swapped_bits),
        IndexMap::strided({1, 1}, {1, 1}),
        IndexMap::strided({0, 4}, {4, 1}),
    };
    for (const auto &map : maps) {
        auto rows = map.domain().extents()[0], columns = map.domain().extents()[1];
        auto def = tile_kernel([=](TensorView<int32_t, 2> Y, TensorView<int32_t, 1> Next) {
            for (auto &nest : parallel(shape(rows, columns), exec::layout(map))) {
                Y(nest.index(0), nest.index(1)).store(Next(0).atomic_add(1));
            }
        });
        auto kernel = def.capture(tensor_shape(rows, columns), tensor_shape(1));
        BothOptions options;
        options.one_at_a_time = true;
        auto out = run_both(
            kernel, {output_view<int32_t>({rows, columns}), dense<int32_t>({1}, {0})}, {}, options);
        for (const auto &point : map.domain().points()) {
            EXPECT_EQ(at(out[0], point[0] * columns + point[1]), static_cast<double>(map(point)[0]))
                << map.text();
        }
    }
}
TEST(Layouts, views_by_index_maps_read_and_write_the_places_of_the_map) {
    // A tile laid out by digits, bits, and a choice of two; stored through the map and read through it again.
    for (const auto &map :
         {IndexMap::strided({8, 12}, {1, 8}),
          IndexMap::mixed_radix({{{2, 4}, {{4}, {24}}}, {{4, 3}, {{1}, {8}}}}, {0}),
          IndexMap::of({8, 12}, {128}, [](IndexExpr i, IndexExpr j) {
              return IndexExpr::select(i < 4, i * 16 + j, i * 16 + (j ^ 3));
          })}) {
        auto def = tile_kernel(
            [=](TensorView<const float, 2> X, TensorView<float, 1> Y, TensorView<float, 2> Z) {
                auto i = axis("i", 8), j = axis("j", 12);
                Y.view(shape(i, j), map).store(X[coord(0, 0), shape(i, j)]);
                Z(coord(0, 0), shape(i, j)).store(Y.view(shape(i, j), map).load() + 1.0f);
            });
        auto x = integer_view({8, 12}, 3, 50);
        auto out = run_both(
            def.capture(tensor_shape(8, 12), tensor_shape(128), tensor_shape(8, 12)),
            {x, output_view({128}), output_view({8, 12})});
        for (const auto &point : map.domain().points()) {
            auto e = point[0] * 12 + point[1];
            EXPECT_EQ(at(out[1], map(point)[0]), at(x, e)) << map.text();
            EXPECT_EQ(at(out[2], e), at(x, e) + 1);
        }
    }
}
TEST(Layouts, an_injective_map_stores_what_its_converse_loads) {
    // The tile (i, j) lies where two digits of a mixed radix are exchanged.
    for (int64_t columns : {1, 3, 8}) {
        auto def = tile_kernel(
            [=](TensorView<const float, 2> X, TensorView<float, 1> Y, TensorView<float, 2> Z) {
                auto i = axis("i", 6), j = axis("j", columns);
                auto x = X[coord(0, 0), shape(i, j)];
                auto place = [](Scalar<int64_t> r, Scalar<int64_t> c) { return coord(c * 6 + r); };
                Y.view(shape(i, j), place).store(x);
                Z(coord(0, 0), shape(i, j)).store(Y.view(shape(i, j), place).load() * 2.0f);
            });
        auto x = integer_view({6, columns}, 3);
        auto out = run_both(def.capture(tensor_shape(6, columns), tensor_shape(6 * columns),
                                        tensor_shape(6, columns)),
                            {x, output_view({6 * columns}), output_view({6, columns})});
        for (int64_t e = 0; e < 6 * columns; ++e) {
            EXPECT_EQ(at(out[1], e % columns * 6 + e / columns), at(x, e));
            EXPECT_EQ(at(out[2], e), 2 * at(x, e));
        }
    }
}
TEST(Layouts, a_map_of_divisions_and_exclusive_or_reads_its_elements) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 2> Y) {
        auto r = axis("r", 8), c = axis("c", 8);
        auto swizzled = X.view(shape(r, c), [](Scalar<int64_t> i, Scalar<int64_t> j) {
            return coord(i * 8 + (j ^ (i % 4)));
        });
        Y(coord(0, 0), shape(r, c)).store(swizzled.load());
        auto blocked = X.view(shape(r, c), [](Scalar<int64_t> i, Scalar<int64_t> j) {
            return coord((i / 2 * 2 + j / 4) * 8 + i % 2 * 4 + j % 4);
        });
        Y(coord(8, 0), shape(r, c)).store(blocked.load());
    });
    auto x = integer_view({64}, 3, 90);
    auto out = run_both(def.capture(tensor_shape(64), tensor_shape(16, 8)),
                        {x, output_view({16, 8})});
    for (int64_t e = 0; e < 64; ++e) {
        auto i = e / 8, j = e % 8;
        EXPECT_EQ(at(out[1], e), at(x, i * 8 + (j ^ (i % 4))));
        EXPECT_EQ(at(out[1], 64 + e), at(x, (i / 2 * 2 + j / 4) * 8 + i % 2 * 4 + j % 4));
    }
}

TEST(Layouts, balanced_trees_merge_a_memory_that_has_one) {
    // Found by a random program. The layout has gaps; the tree merges them too, and nothing reads them.
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 1> Y) {
        auto i = axis("i", 6);
        for (auto &root : parallel(shape(1))) {
            auto m = memory<float>(layout(shape(i), stride(3)));
            m.store(full<float>(shape(i), 0.5f));
            for (auto &row : root.reduce(shape(7), add, reduction::balanced_tree)) {
                auto x = X[coord(row.index(), 0), shape(1, i)];
                m.store(m.load() + reduce(x, x.axis(0), add, reduction::fold_left));
            }
            Y(coord(0), shape(i)).store(m.load());
        }
    });
    auto x = integer_view({7, 6}, 5);
    auto out = run_both(def.capture(tensor_shape(7, 6), tensor_shape(6)), {x, output_view({6})});
    for (int64_t e = 0; e < 6; ++e) {
        float sum = 0.5f;
        for (int64_t row = 0; row < 7; ++row) {
            sum += at(x, row * 6 + e);
        }
        EXPECT_EQ(at(out[1], e), sum);
    }
}
